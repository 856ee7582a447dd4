"""README's picture shows the translator that is shipped."""

import html

import pytest
from PIL import Image

from tools.notebooks import ROOT
from tools.picture import ALT, PICTURES, with_checksum


@pytest.mark.parametrize("path", PICTURES.values(), ids=lambda path: path.stem)
def test_the_stored_picture_was_drawn_with_the_shipped_weights(path):
    (alt,) = ALT.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    with Image.open(path) as picture:
        comment = picture.info["comment"].decode()
    assert comment == with_checksum(html.unescape(alt)), "it is stale; run: make picture"
