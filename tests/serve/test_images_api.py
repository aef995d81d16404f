"""Images searched over HTTP: ranks, pictures of one folder, and plain refusals."""

from __future__ import annotations

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

import weft
from weft.errors import ConfigError
from weft.serve.app import create_app
from weft.serve.images import LONGEST, PictureDesk
from weft.serve.service import Service
from weft.tasks.images import Collection, ImageFinder, ImageSettings, ImageVectors

CAPTIONS = [("sea.jpg", "A dog runs."), ("hill.jpg", "A cat sleeps."), ("lake.jpg", "A bird sings.")]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "inner").mkdir()
    (folder / "inner" / "sea.jpg").write_bytes(b"picture")
    (folder / "notes.txt").write_text("no picture")
    (folder.parent / "secret.jpg").write_bytes(b"secret")
    nlp = weft.load("en")
    docs = list(nlp.pipe(text for _, text in CAPTIONS))
    for doc, (image, _) in zip(docs, CAPTIONS, strict=True):
        doc.meta["image"] = image
    words = folder / "words.vec"
    random = np.random.default_rng(0)
    names = ["a", "dog", "runs", "cat", "sleeps", "bird", "sings"]
    words.write_text("\n".join(f"{name} {' '.join(map(str, random.standard_normal(6)))}" for name in names))
    finder = ImageFinder(ImageSettings(words=str(words), least=1, length=2.0, epochs=40, rate=0.1))
    images = ImageVectors([image for image, _ in CAPTIONS], np.eye(3))
    finder.fit(docs, None, images)
    desk = PictureDesk(Collection(images, finder, nlp), folder)
    service = Service({}, pictures=desk)
    with TestClient(create_app(service)) as opened:
        yield opened
    service.close()


def test_images_are_ranked_and_pictures_come_from_the_folder(client: httpx.Client) -> None:
    found = client.post("/search", json={"text": "A dog runs."}).json()
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert found["hits"][0]["image"] == "sea.jpg"
    assert [hit["picture"] for hit in found["hits"]] == ["/pictures/inner/sea.jpg", None, None]
    assert client.get("/pictures/inner/sea.jpg").content == b"picture"
    assert client.get("/pictures/../secret.jpg").status_code == 404
    assert client.get("/pictures/notes.txt").status_code == 404
    assert client.get("/pictures/%2e%2e/secret.jpg").status_code == 404


def test_the_name_of_an_image_finds_others_like_it(client: httpx.Client) -> None:
    found = client.post("/search", json={"text": "sea.jpg"}).json()
    assert "sea.jpg" not in [hit["image"] for hit in found["hits"]]


def test_the_page_is_the_start_where_nothing_else_is_served(client: httpx.Client) -> None:
    assert "Describe a picture" in client.get("/").text
    assert client.get("/images").text == client.get("/").text


def test_what_cannot_be_searched_is_refused_in_words(client: httpx.Client) -> None:
    assert "no sentence" in client.post("/search", json={"text": " "}).json()["error"]
    assert client.post("/search", json={"text": "a" * (LONGEST + 1)}).status_code == 413
    assert "did you mean text?" in client.post("/search", json={"texts": "a"}).json()["error"]


def test_a_folder_that_is_none_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        PictureDesk(Collection(ImageVectors(["a"], np.eye(1))), tmp_path / "none")
