"""Sending: mails go to the operator's SMTP server, in a thread of the sweep that nothing else waits for."""

import smtplib
import ssl
from datetime import timedelta
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr
from typing import Self

from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.notices.gathering import gather, stop_link
from pipeline.notices.outbox import Mail, claim_mails, report_mail
from pipeline.settings import Settings
from pipeline.settings.settings import MailSettings

log = get_logger(__name__)

#: Mails for one connection.
AT_ONCE = 20
#: Links stay on one line: folded, they would be encoded, and no mail program would find them.
POLICY = SMTP.clone(max_line_length=998)
#: The most that a mail takes, in timeouts: each step of the exchange has its own.
STEPS = 8


class MailServer:
    """A connection to the SMTP server, within a `with` block. Entering raises OSError or smtplib.SMTPException."""

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings

    def __enter__(self) -> Self:
        wanted = self._settings
        if wanted.host is None:
            raise NotReady("No mail server is set. Set PRESSROOM_MAIL__HOST.", code="mail_not_set_up")
        context = ssl.create_default_context(cafile=wanted.ca_file)
        if wanted.security == "tls":
            self._smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                wanted.host, wanted.port, timeout=wanted.timeout_seconds, context=context
            )
        else:
            self._smtp = smtplib.SMTP(wanted.host, wanted.port, timeout=wanted.timeout_seconds)
        try:
            if wanted.security == "starttls":
                self._smtp.starttls(context=context)
            if wanted.user is not None and wanted.password is not None:
                self._smtp.login(wanted.user, wanted.password.get_secret_value())
        except (OSError, smtplib.SMTPException):
            self._smtp.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._smtp.close()

    def send(self, message: EmailMessage) -> None:
        """Have the server take a message. Raises OSError or smtplib.SMTPException."""
        self._smtp.send_message(message)


class MailSending:
    """Gathers people's notices, and sends them."""

    def __init__(self, settings: Settings) -> None:
        self._mail = settings.mail
        self._public_url = settings.api.public_url
        self._lease = timedelta(seconds=STEPS * AT_ONCE * settings.mail.timeout_seconds)

    def work(self, database: Database) -> int:
        """Gather, and send until nothing is due; returns the number of mails made and tried."""
        if self._mail.host is None:
            return gather(database, None)
        made, tries = gather(database, self._public_url), 0
        while mails := database.run(claim_mails(AT_ONCE, lease_for=self._lease)):
            tries += len(mails)
            self._send_all(database, mails)
        return made + tries

    def _send_all(self, database: Database, mails: list[Mail]) -> None:
        left = mails.copy()
        while left:
            put_off = len(left)
            try:
                with MailServer(self._mail) as server:
                    put_off = 1  # if the server hangs up; the others go by another connection
                    while left:
                        mail = left[0]
                        error, is_final = self._try(server, mail)
                        state = database.run(report_mail(mail, error, is_final=is_final))
                        left.pop(0)
                        log.info("mail sent", mail=str(mail.id), attempts=mail.attempts, state=state)
            except (OSError, smtplib.SMTPException) as error:  # of the connection
                log.warning("mail server not reached", error=str(error), mails=put_off)
                for mail in left[:put_off]:
                    database.run(report_mail(mail, f"{self._mail.host} did not take it: {error}"))
                del left[:put_off]

    def _try(self, server: MailServer, mail: Mail) -> tuple[str | None, bool]:
        """Send a mail; return why it was not taken, and whether trying again is in vain.

        Raises OSError or SMTPServerDisconnected where the connection is gone."""
        try:
            server.send(self.message(mail))
        except smtplib.SMTPServerDisconnected:
            raise
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            return f"{code} {_text(text)}", code >= 500
        except smtplib.SMTPDataError as error:
            return f"{error.smtp_code} {_text(error.smtp_error)}", error.smtp_code >= 500
        except smtplib.SMTPException as error:
            return str(error), False
        except (ValueError, MessageError) as error:  # of the address; OSErrors are of the connection
            return f"Nobody can be written to at {mail.email!r}: {error}", True
        return None, False

    def message(self, mail: Mail) -> EmailMessage:
        """Return a mail as it is sent; its Message-ID is the same in each try. Raises ValueError or MessageError."""
        if not mail.email:
            raise ValueError("they have no e-mail address")
        message = EmailMessage(policy=POLICY)
        message["From"] = self._mail.sender
        message["To"] = Address(addr_spec=mail.email)
        message["Subject"] = mail.subject
        message["Date"] = formatdate()
        message["Message-ID"] = f"<{mail.id}@{parseaddr(self._mail.sender or '')[1].rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        if mail.token is not None and self._public_url is not None:
            # One click, RFC 8058: the mail program posts to the link, and asks nobody to sign in.
            message["List-Unsubscribe"] = f"<{stop_link(self._public_url.rstrip('/'), mail.token)}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(mail.body)
        return message


def _text(answer: bytes | str) -> str:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
