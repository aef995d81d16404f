"""Text of web pages and mails without its markup.

Only tags of HTML are removed: `<b>` and `</div` (cut off), but not `<ada@example.org>`, `x < y` or `<3`. Tags that
begin or end a block become line ends, comments, scripts and styles disappear, and character references such as `&amp;`
become the characters they stand for.
"""

from __future__ import annotations

import html
import re

_BLOCKS = (
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol option p pre section summary table tbody "
    "td tfoot th thead title tr ul"
)
_INLINE = (
    "a abbr acronym applet area audio b base basefont bdi bdo big button canvas cite code col colgroup data datalist "
    "del dfn em embed font frame frameset i iframe img input ins kbd label link map mark menu meta meter noframes "
    "noscript object optgroup output param picture progress q rp rt ruby s samp script select small source span strike "
    "strong style sub sup svg template textarea time track tt u var video wbr"
)
# What is hidden ends before the next of its kind begins, so that the search takes linear time.
_HIDDEN = re.compile(
    r"<!--(?:(?!<!--).)*?-->|<(script|style)\b[^<>]*>(?:(?!<\1\b).)*?</\1>|<!doctype[^<>]*>|<\?xml[^<>]*>", re.S | re.I
)


def _tag(names: str) -> re.Pattern[str]:
    known = "|".join(names.split())
    return re.compile(rf"</?(?:{known})(?:\s[^<>]*|/)?>|</(?:{known})\b(?=\s|$)", re.I)


_BLOCK_TAG, _INLINE_TAG = _tag(_BLOCKS), _tag(_INLINE + " [a-z]+:[a-z]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def strip_html(text: str) -> str:
    """The text without HTML tags, comments and character references.

    >>> strip_html("<p>Zo&euml; <b>left</b>.<br/>Mail: <zoe@example.org></p>")
    'Zoë left.\\nMail: <zoe@example.org>'
    """
    if "<" not in text and "&" not in text:
        return text
    text = _HIDDEN.sub("", text)
    text = _INLINE_TAG.sub("", _BLOCK_TAG.sub("\n", text))
    text = html.unescape(text).replace("\xa0", " ")
    return _EMPTY_LINES.sub("\n\n", "\n".join(line.strip(" \t") for line in text.split("\n"))).strip()
