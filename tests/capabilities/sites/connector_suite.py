"""The promises of every connector. A subclass has `with_site`, a `post`, one that is `gone`, and `written`."""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

import pytest
from sites_fixtures import silence

from capabilities.sites.connectors.connector import Connector, SiteFacts
from capabilities.sites.connectors.trouble import SiteTrouble

#: Runs a coroutine function with a fresh connector.
With = Callable[[Callable[[Connector], Coroutine[Any, Any, Any]]], Any]


class ConnectorSuite:
    """Tests of one connector, which `with_site` opens; `written` are values by ability that it must keep exactly."""

    written: ClassVar[dict[str, Any]] = {}
    #: The site can't be asked which files it has.
    forgets_files: ClassVar[bool] = False

    def test_it_says_what_it_is_and_what_it_can_be_given(self, with_site: With) -> None:
        facts: SiteFacts = with_site(lambda site: site.look_up())

        assert facts.title
        assert set(self.written) <= set(facts.abilities)

    def test_its_lists_end_and_name_each_object_once(self, with_site: With, post: str) -> None:
        async def read(site: Connector) -> list[Any]:
            posts = [one async for some in site.list_posts() for one in some]
            return posts + [one async for some in site.list_pictures() for one in some]

        targets = [one.target for one in with_site(read)]
        assert post in targets
        assert len(targets) == len(set(targets))

    def test_an_object_that_is_gone_is_none(self, with_site: With, gone: str) -> None:
        assert with_site(lambda site: site.read(gone)) is None

    def test_what_it_writes_stands_there_and_can_be_put_back_exactly(self, with_site: With, post: str) -> None:
        async def write(site: Connector) -> None:
            before = await site.read(post)
            assert before is not None
            for field, value in self.written.items():
                assert (await site.write(post, {field: value}))[field] == value, field
            for field in self.written:
                await site.write(post, {field: before[field]})
            assert await site.read(post) == before

        with_site(write)

    def test_what_it_can_not_be_given_is_refused(self, with_site: With, post: str) -> None:
        facts: SiteFacts = with_site(lambda site: site.look_up())
        if "upload" in facts.abilities:
            target, url = with_site(lambda site: site.upload("note.wav", silence(), "audio/wav", post=post))
            assert url.endswith(".wav")
            assert (
                self.forgets_files
                or with_site(lambda site: site.upload("note.wav", silence(), "audio/wav"))[0] == target
            )
            with_site(lambda site: site.remove(target))
            assert with_site(lambda site: site.read(target)) is None
        else:
            with pytest.raises(SiteTrouble):
                with_site(lambda site: site.write(post, {"excerpt": "x"}))
