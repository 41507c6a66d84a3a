"""A TFDS dataset with every connector that can be imported, and what is in it.

`python tests/importing/tfds_zoo.py DIRECTORY`, where tensorflow-datasets is installed,
lets TFDS write it. What stands in `zoo/` was made like that.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

CLASSES = ["cat", "dog"]
ORDER = ["first", "second"]


def pixels(seed: int, shape: tuple[int, ...], dtype: str = "uint8") -> np.ndarray:
    """Return a small picture."""
    size = int(np.prod(shape))
    return ((np.arange(size) * 7 + seed * 31) % 251).astype(dtype).reshape(shape)


def row(number: int) -> dict[str, Any]:
    """Return an example as it is given to TFDS; the second one has little in it."""
    full = number == 0
    boxes = [
        {"bbox": [0.0, 0.25, 0.5, 1.0], "label": 2, "name": "nose"},
        {"bbox": [0.5, 0.5, 0.75, 1.0], "label": 0, "name": "tail"},
    ]
    deep = [
        {"tokens": ["a", "b"], "frame": pixels(1, (2, 2, 3))},
        {"tokens": [], "frame": pixels(2, (2, 2, 3))},
    ]
    return {
        "id": ORDER[number],
        "image": pixels(number, (8, 8, 3)),
        "any": pixels(number, (8, 6, 3)),
        "depth": pixels(number, (4, 4, 1), "uint16") * 200,
        "label": CLASSES[number],
        "kind": 5,
        "score": 0.5 if full else None,
        "small": -3 if full else 4,
        "yes": full,
        "wide": 0.25,
        "huge": 2**63 + 5,
        "vec": np.array([1.5, -2.0, 3.0], "float32"),
        "track": np.ones((2 if full else 0, 2), "float32"),
        "turned": np.arange(6 if full else 0, dtype="int32").reshape(3, -1),
        "words": np.array(["x", "yz"], object),
        "raw": np.array([[0.1, 0.2], [0.3, 0.4]]),
        "one": np.int32(9),
        "series": np.array([0.1, 0.2] if full else [], "float64"),
        "piece": np.array([1, 2] if full else [], "int16"),
        "boxes": boxes if full else [],
        "nested": [[1, 2], [], [3]] if full else [],
        "deep": deep if full else [],
        "four": [1, 2, 3, 4],
        "corners": [[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 1.0, 1.0]],
        "video": [pixels(n, (4, 4, 3)) for n in range(2 if full else 0)],
        "clip": [pixels(n, (2, 3 + n, 3)) for n in range(2)],
        "audio": np.array([1, -1, 300] if full else [], "int64"),
        "words_of": {"en": "dog", "fr": "chien"},
        "steps": [{"state": [0.5, 1.0], "reward": 1.0, "obs": {"t": 3}}] * number,
        "meta": {"file": "a.txt", "count": 2},
    }


def features(F: Any) -> Any:  # noqa: N803
    """Return the features of the dataset, of which `F` is the module."""
    return F.FeaturesDict(
        {
            "id": F.Text(),
            "image": F.Image(shape=(8, 8, 3), encoding_format="png", doc="The photo."),
            "any": F.Image(),
            "depth": F.Image(shape=(4, 4, 1), dtype=np.uint16, encoding_format="png"),
            "label": F.ClassLabel(names=CLASSES),
            "kind": F.ClassLabel(num_classes=7),
            "score": F.Scalar(np.float32, optional=True),
            "small": F.Scalar(np.int8),
            "yes": np.bool_,
            "wide": np.float64,
            "huge": np.uint64,
            "vec": F.Tensor(shape=(3,), dtype=np.float32),
            "track": F.Tensor(shape=(None, 2), dtype=np.float32),
            "turned": F.Tensor(shape=(3, None), dtype=np.int32),
            "words": F.Tensor(shape=(2,), dtype=np.str_),
            "raw": F.Tensor(shape=(2, 2), dtype=np.float64, encoding="bytes"),
            "one": F.Tensor(shape=(), dtype=np.int32, encoding="bytes"),
            "series": F.Tensor(shape=(None,), dtype=np.float64, encoding="bytes"),
            "piece": F.Tensor(shape=(None,), dtype=np.int16, encoding="bytes"),
            "boxes": F.Sequence(
                {
                    "bbox": F.BBoxFeature(),
                    "label": F.ClassLabel(num_classes=3),
                    "name": F.Text(),
                }
            ),
            "nested": F.Sequence(F.Sequence(np.int64)),
            "deep": F.Sequence(
                {
                    "tokens": F.Sequence(F.Text()),
                    "frame": F.Image(shape=(2, 2, 3), encoding_format="png"),
                }
            ),
            "four": F.Sequence(np.int64, length=4),
            "corners": F.Sequence(F.BBoxFeature(), length=2),
            "video": F.Video(shape=(None, 4, 4, 3)),
            "clip": F.Sequence(F.Image(encoding_format="png")),
            "audio": F.Audio(sample_rate=16000),
            "words_of": F.Translation(languages=["en", "fr"]),
            "steps": F.Dataset(
                {
                    "state": F.Tensor(shape=(2,), dtype=np.float32),
                    "reward": np.float32,
                    "obs": {"t": np.int32},
                }
            ),
            "meta": {"file": F.Text(), "count": np.int64},
        }
    )


def write(directory: str) -> str:
    """Let TFDS write the dataset below a directory; return the dataset's own."""
    import tensorflow_datasets as tfds

    class Zoo(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(
                builder=self,
                features=features(tfds.features),
                description="One of each animal.\n\nMore of it.",
            )

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            for number in range(len(ORDER)):
                given = row(number)
                box = tfds.features.BBox
                for each in given["boxes"]:
                    each["bbox"] = box(*each["bbox"])
                given["corners"] = [box(*each) for each in given["corners"]]
                yield number, given

    builder = Zoo(data_dir=directory)
    builder.download_and_prepare()
    return str(builder.data_dir)


if __name__ == "__main__":
    print(write(sys.argv[1]))
