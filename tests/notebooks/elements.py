"""Reading HTML that a notebook shows, and refusing what must not be in it."""

from __future__ import annotations

from html.parser import HTMLParser

_TAGS = {
    *("div", "style", "p", "table", "thead", "tbody", "tr", "th", "td"),
    *("code", "pre", "ul", "li", "small", "img", "span"),
}


class Elements(HTMLParser):
    """The elements and the text of a fragment.

    Attributes:
        tags: the names of all elements.
        attributes: (name, value) of all attributes.
        text: the text outside of style, with spaces between elements.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open
        self.text = " ".join("|".join(self._texts).replace("|", " ").split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "img":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self._texts.append(data)


def harmless(html: str) -> Elements:
    """Return the elements of a fragment in which only pictures and tables are."""
    found = Elements(html)
    assert set(found.tags) <= _TAGS
    assert {name for name, _ in found.attributes} <= {"class", "src", "alt"}
    for name, value in found.attributes:
        if name == "src":
            assert value is not None
            assert value.startswith("data:image/")
    assert found.text.replace("\n", " ").isprintable()
    return found
