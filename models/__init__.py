"""The tables. Every change to job, item, account and ledger goes through `pipeline.lifecycle`."""

from models.accounts.account import Account
from models.accounts.api_key import ApiKey
from models.accounts.credit_entry import CreditEntry
from models.accounts.key_spending import KeySpending
from models.accounts.session import Session, SignInLink
from models.accounts.signing_key import SigningKey
from models.accounts.usage_day import UsageDay, UsageSummed
from models.cover_record import CoverRecord
from models.index_check import ITEM_INDEXES, JOB_INDEX, SearchProvider, Verdict
from models.index_monitor import IndexMonitor, IndexMonitorChange, IndexMonitorPage
from models.jobs.ended_job import EndedJob
from models.jobs.item import Item
from models.jobs.job import Job
from models.lexicon import Lexicon
from models.offer import Offer
from models.owned_site import OwnedSite, SiteConnection, SiteQuota
from models.queue_sample import QueueSample
from models.webhook import Webhook, WebhookDelivery

__all__ = [
    "ITEM_INDEXES",
    "JOB_INDEX",
    "Account",
    "ApiKey",
    "CoverRecord",
    "CreditEntry",
    "EndedJob",
    "IndexMonitor",
    "IndexMonitorChange",
    "IndexMonitorPage",
    "Item",
    "Job",
    "KeySpending",
    "Lexicon",
    "Offer",
    "OwnedSite",
    "QueueSample",
    "SearchProvider",
    "Session",
    "SignInLink",
    "SigningKey",
    "SiteConnection",
    "SiteQuota",
    "UsageDay",
    "UsageSummed",
    "Verdict",
    "Webhook",
    "WebhookDelivery",
]
