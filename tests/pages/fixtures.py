"""What pages need before they run, what happens in the middle of them, and what they leave."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from running import ROOT, Names, blocks_of


def command(text: str) -> Callable[[], object]:
    """Return what runs commands."""
    return partial(subprocess.run, ["bash", "-ec", text], check=True)


GENERATE = command("schemagen generate")
PROJECT = command("schemagen init && schemagen generate")
SETTINGS = command("echo '[tool.schemagen]' > pyproject.toml && mkdir schemas")
REPOSITORY = command(
    "echo '[tool.schemagen]' > pyproject.toml && git init --quiet --initial-branch main"
)


def leaves(*files: str) -> Callable[[Names], object]:
    """Return what checks that files are there."""

    def check(_: Names) -> None:
        for file in files:
            assert Path(file).is_file(), file

    return check


def pets() -> None:
    """The project of `schemagen init`, with data of its record."""
    PROJECT()
    import numpy as np

    sys.path.insert(0, os.getcwd())
    from generated.pet_photo.serializer import write_dataset  # type: ignore[attr-defined]

    rows = [
        {
            "photo": np.full((64, 64, 3), number, np.uint8),
            "note": [number] * (number % 5),
            "measurements": [number / 8] * 5,
            "breed": number % 3,
            "age_years": None if number % 4 else 2.5,
        }
        for number in range(64)
    ]
    write_dataset(rows, "data", "train")
    write_dataset(rows[:32], "data", "test")


# Training and serving.


def two_devices() -> None:
    """A strategy has two devices, also where there is one; other models are not traced.

    Tracing takes longer than a few batches.
    """
    import keras
    import tensorflow as tf

    compile_model = keras.Model.compile

    def compile_eagerly(model: Any, *arguments: Any, **options: Any) -> None:
        eager = not tf.distribute.has_strategy()
        compile_model(model, *arguments, **{**options, "run_eagerly": eager})

    keras.Model.compile = compile_eagerly
    (cpu,) = tf.config.list_physical_devices("CPU")
    halves = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, halves)


def training_of_pets() -> None:
    """The data of the README, and models that train quickly."""
    pets()
    two_devices()


def training() -> None:
    """A project whose models train quickly."""
    PROJECT()
    two_devices()


def served(names: Names) -> None:
    """Check what was trained, saved, loaded and served."""
    layers = [
        [layer.name for layer in names[model].layers] for model in ("again", "model")
    ]
    assert layers[0] == layers[1]
    assert names["half"].layers[-1].compute_dtype == "float32"
    assert names["answer"]["breed"].shape == (1, 3)
    (instance,) = json.loads(names["body"])["instances"]
    assert names["base64"].b64decode(instance["b64"]) == names["request"]
    leaves("models/pet_photo/1/saved_model.pb")(names)


def cooked(names: Names) -> None:
    """Check what the recipes have made."""
    import numpy as np

    assert np.mean(names["accuracies"]) > 0.8
    assert names["counts"].tolist() == [250, 250, 250]
    for dataset in (names["rotated"], names["varied"]):
        assert sum(1 for _ in dataset) == 10
    verdicts = [targets["verdict"] for _, targets in names["mixed"]]
    assert 0.2 < np.mean(np.concatenate(verdicts) == 2) < 0.3
    lengths = [len(features["words"]) for features, _ in names["buckets"]]
    assert max(lengths) == 64
    assert names["losses"][-1] < 4
    assert names["strategy"].num_replicas_in_sync == 2


def ranks_share_an_epoch(_: Names) -> None:
    """Check that each rank of PyTorch reads half of the records."""
    launch = ["torchrun", "--nproc-per-node", "2", "ddp.py"]
    printed = subprocess.check_output(launch, text=True)
    ranks = re.findall(r"rank (\d): 10 batches, loss 0\.\d+", printed)
    assert sorted(ranks) == ["0", "1"]


# Writing.


def photographs(count: int) -> None:
    """Photographs on a file server, of which one is no JPEG and one is not there."""
    from PIL import Image

    root = Path("photographs")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    lines = ["path,place"]
    for number in range(count):
        place = "indoors" if number < count // 2 else "outdoors"
        file = io.BytesIO()
        Image.new("RGB", (40 + number, 30), (number, 0, 99)).save(file, "JPEG")
        data = b"no photograph" if number == 3 else file.getvalue()
        if number != 5:
            (root / f"{number}.jpg").write_bytes(data)
        lines.append(f"{number}.jpg,{place}")
    (root / "index.csv").write_text("\n".join(lines), encoding="utf-8")


def few_photographs() -> None:
    """A project with photographs that can all be read."""
    PROJECT()
    photographs(3)


def many_photographs() -> None:
    """Check what was written of few photographs, and make many."""
    assert Path("data/sample-00000-of-00001.tfrecord").is_file()
    photographs(30)


def photographs_written(names: Names) -> None:
    """Check the split, its refused rows, and that damage is found."""
    assert names["written"] == 28
    lines = Path("refused.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["row"], row["field"]) for row in rows] == [(3, "image"), (5, "image")]
    assert rows[1]["expected"] == "one at 5.jpg"
    [shown] = [each.text for each in blocks_of("writing") if each.language == "json"]
    assert list(json.loads(shown)) == list(rows[0])
    check = names["check_files"]
    assert list(check("data")) == []
    shard = Path("data/train-00000-of-00001.tfrecord")
    shard.write_bytes(shard.read_bytes()[:-1])
    assert shard.name in "".join(map(str, check("data")))


# Inspecting.


CLASSES = ("daisy", "dandelion", "rose")


def jpeg(height: int, width: int) -> bytes:
    """Return what begins and ends as a JPEG does, with so many rows and columns."""
    sizes = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    header = b"\xff\xc0\x00\x11\x08" + sizes + b"\x03" + bytes(9)
    pixels = b"\xff\xda\x00\x02" + bytes(height * width // 4) + b"\xff\xd9"
    return b"\xff\xd8\xff\xe0\x00\x04ab" + header + pixels


def flower(number: int, scale: float = 1.0) -> bytes:
    """Return a record as another program wrote it, with a score in some scale."""
    import numpy as np
    from data.messages import example

    kind = number * 7 % 11 % 3
    held: dict[str, Any] = {
        "image/encoded": jpeg(60 + number % 20, 80),
        "image/class/label": kind + 1,
        "image/class/text": CLASSES[kind],
        "image/filename": f"{number:06}.jpg",
        "image/bbox/xmin": np.arange(number % 4, dtype=np.float32) / 8,
        "tags": [number * at % 37 for at in range(number % 6)],
    }
    if number % 10:
        held["score"] = scale * (number % 97) / 64
    return example(held)


def old_files() -> None:
    """Files of another program."""
    from data.messages import write_file

    records = [flower(number) for number in range(700)]
    write_file(Path("old/train-00000-of-00002"), records[:300])
    write_file(Path("old/train-00001-of-00002"), records[300:600])
    write_file(Path("old/val-00000-of-00001"), records[600:])


def cut_file_is_reported(_: Names) -> None:
    """Check that the records before damage are counted, and the exit code is 1."""
    file = Path("old/val-00000-of-00001")
    file.write_bytes(file.read_bytes()[:-100])
    from command_line import run

    cut = run("inspect", "old", "--records", "0")
    assert cut.exit_code == 1
    assert "val-00000-of-00001: record 99 at byte 160,864" in cut.output


def flowers() -> None:
    """Files of another program, for `adopt`: images, classes from 1, and tags."""
    import numpy as np
    from data.messages import example, write_file
    from PIL import Image

    random = np.random.default_rng(0)
    for split, count in (("train", 200), ("val", 50)):
        records = []
        for number in range(count):
            label = random.integers(3)
            height, width = random.integers(40, 80, size=2)
            pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
            file = io.BytesIO()
            Image.fromarray(pixels).save(file, "JPEG")
            row: dict[str, Any] = {
                "image/encoded": file.getvalue(),
                "image/format": b"jpeg",
                "image/height": int(height),
                "image/width": int(width),
                "image/class/label": int(label) + 1,
                "image/class/text": CLASSES[label],
                "image/filename": f"{split}-{number:06}.jpg",
                "tags": random.integers(0, 40, random.integers(1, 5)),
            }
            if random.random() < 0.8:
                row["exposure"] = np.array([random.random()], np.float32)
            records.append(example(row))
        write_file(Path(f"old/{split}-00000-of-00001"), records)


def two_splits() -> None:
    """A test split with other values of a key, and with five records of train."""
    from data.messages import write_file

    train = [flower(number) for number in range(5, 305)]
    others = [flower(number, 0.5) for number in range(305, 360)]
    write_file(Path("data/train-00000-of-00001"), train)
    write_file(Path("data/test-00000-of-00001"), [*train[-5:], *others])


def speech() -> None:
    """Two splits of commands; two of the speakers are in both."""
    import numpy as np
    from data.messages import example, record, write_data
    from schemagen import Label, Text, VarLen

    words = ("go", "stop", "left")
    command = record(
        "Command",
        {
            "word": Annotated[int, Label(classes=words, role="target")],
            "speaker": Annotated[str, Text(role="info")],
            "file": Annotated[str, Text()],
            "audio": Annotated[list[float], VarLen("float32")],
        },
    )
    random = np.random.default_rng(0)
    splits = {}
    for split, speakers in (
        ("train", ("anna", "ben", "carl", "dora")),
        ("test", ("carl", "dora", "emil")),
    ):
        splits[split] = []
        for at in range(100 * len(speakers)):
            word = int(random.integers(3))
            row = {
                "word": word,
                "speaker": speakers[at % len(speakers)],
                "file": f"{words[word]}.wav",
                "audio": random.normal(0, 1, 5 * word + random.integers(2, 12)),
            }
            splits[split].append(example(row))
    write_data(Path("speech"), command, splits)


def clips() -> None:
    """Two splits of clips, of 2 to 40 frames each."""
    SETTINGS()
    lines = [
        "from typing import Annotated",
        "from schemagen import Images, Record",
        "class Gesture(Record):",
        "    clip: Annotated[list[bytes], Images((16, 16, 3))]",
    ]
    Path("schemas/gesture.py").write_text("\n".join(lines), encoding="utf-8")
    GENERATE()
    sys.path.insert(0, os.getcwd())
    from generated.gesture.serializer import write_dataset  # type: ignore[import-not-found]

    rows = [{"clip": [jpeg(16, 16)] * count} for count in range(2, 40)]
    write_dataset(rows, "data", "train")
    write_dataset(rows[:5], "data", "test")


def two_datasets() -> None:
    """Check that leakage is found, and write two versions of a dataset."""
    from command_line import run
    from data.messages import example, write_file

    assert run("inspect", "data", "--fail-on", "leakage").exit_code == 1
    for version in (1, 2):
        rows = [
            example(
                {
                    "id": at,
                    "title": f"Lamp {at}"
                    if at != 23 or version == 1
                    else "Desk lamp 23",
                    "price": at % 9 + 1.95 - (version == 2 and at % 40 == 3),
                }
            )
            for at in range(version, 400)
        ]
        write_file(Path(f"data/v{version}/train-00000-of-00001"), rows)


SHELTER = '''\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, Text


class Shelter(Record):
    """An animal of the shelter."""

    photo: Annotated[np.ndarray, Image((8, 8, 3))]
    breed: Annotated[int, Label(classes=("beagle", "pug", "tabby"))]
    note: Annotated[str, Text(role="info")]
'''


def shelter() -> None:
    """A project with data of two splits."""
    SETTINGS()
    Path("schemas/shelter.py").write_text(SHELTER, encoding="utf-8")
    GENERATE()
    import numpy as np

    sys.path.insert(0, os.getcwd())
    from generated.shelter.serializer import (  # type: ignore[import-not-found]
        write_dataset,
    )

    rows = [
        {
            "photo": np.full((8, 8, 3), number % 256, np.uint8),
            "breed": number % 3,
            "note": f"animal {number}",
        }
        for number in range(1200)
    ]
    write_dataset(iter(rows), "data", "train", shards=3)
    write_dataset(rows[:90], "data", "test", shards=1)


def damage() -> None:
    """What the page about `verify` says has happened to the data."""
    from damaged_files import flip_bit
    from data.messages import example, write_file

    shutil.copytree("data", "undamaged")
    first, second, third = sorted(Path("data").glob("train-*"))
    first.unlink()
    flip_bit(second, 70_000)
    rows: list[dict[str, Any]] = [
        {"photo": bytes(768), "breed": 3, "note": "Zoë".encode("latin-1")},
        {"photo": bytes(768), "breed": 1, "note": b"Rex"},
    ]
    more = write_file(Path("more"), [example(row) for row in rows])
    third.write_bytes(third.read_bytes() + more.read_bytes())


def exchange() -> None:
    """The data is whole again, or damaged again."""
    shutil.move("data", "other")
    shutil.move("undamaged", "data")
    shutil.move("other", "undamaged")


def all_is_found(names: Names) -> None:
    """Check the findings of Python, and that several machines find what one does."""
    (class_id,) = [each for each in names["found"].findings if each.rule == "SG527"]
    assert (class_id.field, class_id.records) == ("breed", 1)
    assert class_id.examples[0].found == "3"
    Path("data/extra-00000-of-00001.tfrecord").write_bytes(b"")
    [machines] = [each.text for each in blocks_of("verify") if "--limit 1" in each.text]
    several = [shlex.split(line, comments=True)[2:] for line in machines.splitlines()]
    assert len(several) == 4
    assert set().union(*(_found(*each) for each in several)) == _found("data")


def _found(*arguments: str) -> set[tuple[str, str]]:
    """Return the rules and files of what `verify` finds."""
    from command_line import run

    findings = json.loads(run("verify", *arguments, "--format", "json").stdout)
    return {
        (each["rule"], example["path"])
        for each in findings["findings"]
        for example in each["data"]["examples"]
    }


# Other pages.


def descriptions() -> None:
    """Sources of imports, in the home directory and here."""
    os.environ["HOME"] = str(Path("home").resolve())
    root = Path("home/tensorflow_datasets/mnist/3.0.1")
    root.mkdir(parents=True)
    name = "tensorflow_datasets.core.features.scalar.Scalar"
    number = {"dtype": "int64", "shape": {}}
    connector = {"pythonClassName": name, "tensor": {**number, "encoding": "none"}}
    features = {
        "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
        "featuresDict": {"features": {"label": connector}},
    }
    (root / "features.json").write_text(json.dumps(features), encoding="utf-8")
    Path("train").mkdir()
    Path("train/input.py").write_text(
        "import tensorflow as tf\nFEATURES = {'x': tf.io.FixedLenFeature([], tf.int64)}\n"
    )


def parser_has_more(_: Names) -> None:
    """Check that the page's function is in the parser, whose rest is as before."""
    GENERATE()
    text = Path("generated/pet_photo/parser.py").read_text(encoding="utf-8")
    assert "def parse_example(" in text
    assert text.endswith("    return len(parse_example(serialized))\n")
    assert "of the 5 fields of pet_photo a record has" in text
    command("schemagen check")()


def nothing_is_left(_: Names) -> None:
    """Check that a run has left nothing hidden but indexes, and its published claim."""
    for path in Path("data").glob(".*"):
        assert path.suffix == ".index" or b'"published"' in path.read_bytes(), path


def both_programs(_: Names) -> None:
    """Train both programs of the comparison, and let them fail as the page says."""
    GENERATE()
    for program in ("by_hand.py", "with_schemagen.py"):
        printed = subprocess.check_output([sys.executable, program], text=True)
        accuracies = re.findall(r"val_\w*accuracy: [\d.]+", printed)
        assert len(accuracies) == 5, printed
    shutil.copy(ROOT / "tests" / "pages" / "mishaps.py", "mishaps.py")
    subprocess.run([sys.executable, "mishaps.py"], check=True)


def batches_of_frameworks(names: Names) -> None:
    """Check the batches of the README, in PyTorch and JAX."""
    import jax
    import torch

    assert isinstance(next(iter(names["tensors"]))["photo"], torch.Tensor)
    jax.device_put(next(names["batches"]))


def quick_spark() -> None:
    """Spark in this process, with JVMs that compile little."""
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:CICompilerCount=1"
    os.environ["JDK_JAVA_OPTIONS"] = java
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable


def spark_splits(_: Names) -> None:
    """Check the splits of the programs for Spark."""
    manifest = json.loads(Path("data/manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["splits"]) == {"train", "test"}


def scans() -> None:
    """Files of JSON lines, with digits."""
    from digit_rows import rows

    Path("scans").mkdir()
    for part in range(2):
        lines = [
            json.dumps(row, default=lambda array: array.tolist())
            for row in rows(40)[part::2]
        ]
        Path(f"scans/{part}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def scans_written(_: Names) -> None:
    """Check the split of the program for Beam."""
    from digit_rows import contents, listed, rows, written

    options = {"shards": 8, "key_field": "scan", "shuffle_seed": 1}
    written(Path("wanted"), rows(40), **options)
    assert listed(Path("data")) == contents(Path("wanted"))
