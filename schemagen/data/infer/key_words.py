"""What the words of a key say about what is under it: tables of public conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Literal

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Meaning = Literal["answer", "weight", "info", ""]


def _with_plurals(*words: str) -> frozenset[str]:
    plurals = (
        f"{word}es" if word.endswith(("s", "x", "h")) else f"{word}s" for word in words
    )
    ies = (f"{word[:-1]}ies" for word in words if word.endswith("y"))
    return frozenset((*words, *plurals, *ies))


LABELS = frozenset(
    (
        *("label", "class", "category", "target", "species", "breed", "taxon"),
        *("diagnosis", "synset", "cls"),
    )
)
_PLURALS = {"labels", "classes", "categories", "tags", "topics", "targets"}

# What a model learns to say, in any number and of any kind.
_ANSWERS = (
    _with_plurals(*LABELS, "truth", "groundtruth", "outcome", "answer", "sentiment")
    | _with_plurals("reward")
    | _with_plurals("rating", "transcript", "transcription", "summary", "landmark")
    | _with_plurals("keypoint", "polygon", "click", "conversion", "output")
    | _with_plurals("response", "annotation", "captcha", "letter")
    | _with_plurals("logit", "heatmap")
    | {"gt", "tgt", "clicked", "converted", "lbl", "digits"}
)
_ENCODED = {
    *("onehot", "hot", "one", "encoded", "value", "values", "idx", "index", "int"),
    *("num", "number", "dense", "sparse", "id", "ids", "true", "train", "map"),
    *("multi", "multihot", "encoding", "raw", "vec", "vector", "data", "list", "batch"),
    *("array",),
}
_BOXES = _with_plurals("bbox", "box", "xmin", "xmax", "ymin", "ymax", "corner") | {
    *("x1", "x2", "y1", "y2")
}
_OBJECTS = _with_plurals("object", "obj", "annotation", "groundtruth") | {"ann", "gt"}

# Parts of keys between slashes under which everything is an answer.
_ANSWER_PARTS = _BOXES | {
    *("future", "target", "targets", "label", "labels", "gt", "answer", "answers")
}

# Pairs of words that are answers in question answering and in language models.
_ANSWER_PAIRS = {
    *(("answer", "start"), ("answer", "end"), ("start", "position")),
    *(("end", "position"), ("start", "positions")),
    *(("end", "positions"), ("lm", "ids")),
    *(("ground", "truth"), ("is", "impossible"), ("next", "token")),
    *(("start", "pos"), ("end", "pos"), ("ner", "tags"), ("pos", "tags")),
}

_IDS = {"id", "ids", "index", "idx", "num", "number"}
_NAMES = {"text", "texts", "name", "names", "str", "string", "title"}

# What names a record, or tells where it comes from.
_INFO = _with_plurals(
    *("id", "uid", "uuid", "guid", "qid", "key", "sha256", "sha1", "md5", "hash"),
    *("file", "path", "filepath", "uri", "url", "source", "colorspace", "timestamp"),
    *("license", "copyright", "author", "checksum", "basename", "database", "filename"),
    *("date", "datetime", "fname", "imgid", "docid", "pid", "imagename", "videoname"),
    *("split", "subset", "fold", "fps", "samplerate", "crs", "projection", "inchikey"),
    *("dataset", "speaker"),
)
_RATES = {"rate", "samplerate", "sr", "fs", "hz"}
_INFO_PAIRS = {("sample", "rate"), ("sampling", "rate"), ("frame", "rate")}
# What had other sizes before it was stored.
_BEFORE_CHANGES = {"orig", "original"}
_NAMED_THINGS = {"file", "image", "video", "img", "audio", "dataset", "base", "source"}
# What an answer was before is none.
_BEFORE = {"prev", "previous"}
# Things of which a list of ids names each one.
_RECORDS = {
    *("image", "example", "video", "record", "sample", "unique", "source", "frame"),
}
# Ids that a model learns from, or that are the data itself.
_LEARNED_IDS = _with_plurals(
    *("input", "token", "word", "segment", "type", "position", "char", "character"),
    *("user", "item", "movie", "product", "decoder", "encoder", "piece", "subword"),
    *("ad", "advertiser", "campaign", "store", "shop", "category", "language", "lang"),
    *("city", "country", "region", "artist", "brand", "vocab", "feature", "feat"),
    *("headline", "field", "node", "edge", "atom"),
)
# What is recommended or shown, whose id a model learns from.
_ENTITIES = _with_plurals(
    *("user", "item", "movie", "product", "ad", "campaign", "store", "shop"),
    *(
        "category",
        "city",
        "country",
        "region",
        "artist",
        "brand",
        "video",
        "article",
        "news",
    ),
)
# Ids that a model without a vocabulary of answers would learn as quantities.
TOKENS = {"ids", "token", "tokens"}
_FLAGS = ("is", "has", "was", "can")
_FLAG_WORDS = {"valid", "difficult", "truncated", "occluded", "flag"}
_WEIGHTS = {"weight", "weights"}
_WEIGHED = {
    *("sample", "example", "instance", "loss", "class", "label", "target", "mask"),
    *("lm", "record", "importance", "row", "training", "classes", "labels"),
}
_COUNTS = {"length", "len", "count", "num", "number", "size", "steps", "lengths", "n"}
AXES = ("height", "width", "channels")

# Last words of keys that name something else than what a model learns from.
_SAYS = {
    "height": {"height", "rows", "h", "h0"},
    "width": {"width", "columns", "cols", "w"},
    "channels": {"channels", "depth", "channel", "c"},
    "corner": {"xmin", "xmax", "ymin", "ymax"},
    "format": {"format", "encoding", "fmt"},
}
_SHAPES = {"shape", "shapes", "size", "sizes", "dims", "dim", "dimensions"}
_ITEMS = {
    **dict.fromkeys(("xy", "uv"), 2),
    **dict.fromkeys(("xyz", "rgb", "points", "normals", "coords"), 3),
    **dict.fromkeys(("color", "colors"), 3),
    **dict.fromkeys(("rgba", "bbox", "bboxes", "boxes", "quaternion"), 4),
}
_SPLITS = {
    *("train", "training", "val", "valid", "validation", "eval", "dev"),
    *("test", "testing"),
}

# Events that either happen or do not.
_EVENTS = frozenset(
    (
        *("survived", "churn", "churned", "exited", "attrition", "fraud", "spam"),
        *("default", "defaulted", "purchase", "purchased", "bought", "subscribed"),
        *("win", "won", "winner", "toxic", "approved", "readmitted", "deposit"),
        *("died", "death", "stroke", "cancelled", "failed", "failure", "success"),
        *("accepted", "returned", "responded"),
    )
)
_OFTEN_INPUTS = {
    *("action", "activity", "cost", "digit", "energy", "fare", "income", "stage"),
    *("strength", "value", "steering", "throttle", "affinity", "solubility", "valence"),
    *("arousal", "stars", "genre", "topic", "gap", "homo", "lumo", "logp", "pic50"),
}
# Values that are a price.
_PRICED = {"house", "home", "property", "market", "sale"}

_SPEAKS_OF = {
    "image": _with_plurals(
        *("image", "img", "picture", "photo", "frame", "pixel", "scan", "crop", "patch")
    ),
    "sound": _with_plurals("audio", "sound", "waveform", "wav", "wave", "speech")
    | {"pcm", "mic", "microphone"},
    "mask": _with_plurals("mask", "segmentation", "seg", "annotation", *LABELS),
    # Columns that are what a table is about: only a person can know.
    "target": LABELS
    | {
        *("price", "quality", "score", "result", "reward", "mpg"),
        *("grade", "toxicity", "medv", "tips", "polarity", "revenue", "sales"),
        *("bracket", "salary", "wage", "demand", "emotion", "intent"),
        *_EVENTS,
        *_OFTEN_INPUTS,
    },
}

_TIMES = {
    *("time", "times", "timestamp", "timestamps", "ts", "date", "datetime", "epoch"),
    *("created", "updated", "modified", "published", "posted", "since", "until"),
}

# What goes into a model, and hardly ever comes out of it.
_SELDOM = {
    *("token", "tokens", "ids", "mask", "masks", "positions", "segment", "segments"),
    *("year", "month", "week", "weekday", "day", "hour", "minute", "time", "date"),
}


def words_of(key: str) -> list[str]:
    """Return the words of a key, in small letters: imageHeight is image and height."""
    return [word.lower() for word in _WORDS.findall(key)]


def last_word(key: str) -> str:
    """Return the last word of a key; "" if it has none."""
    return next(iter(words_of(key)[::-1]), "")


def meaning_of(key: str, *, several: bool = False) -> Meaning:
    """Tell whether a key names an answer, a weight or the record itself; or none.

    Args:
        key: the key.
        several: whether it holds lists, of which an id names no record.
    """
    _, key = split_before(key)
    found = words_of(key)
    parts = re.split(r"[/.]", key.lower())
    if not found:
        return ""
    while len(found) > 1 and found[-1].isdecimal():
        found.pop()  # label0 and label1, or ids2 next to ids
    *before, last = found
    previous = before[-1] if before else ""
    if last in _WEIGHTS and (not before or set(before) & _WEIGHED):
        return "weight"
    if {tuple(found[-2:]), tuple(found[:2])} & _ANSWER_PAIRS or found[0] == "gt":
        return "answer"
    if last in _NAMES and previous in _ANSWERS:
        return "info"
    if previous == "real" and last == "example":
        return "weight"
    stem = [] if set(found) & _BEFORE else list(found)
    while stem and stem[-1] in _ENCODED:
        stem.pop()
    if stem == ["y"] or (stem and stem[-1] in _ANSWERS | _BOXES):
        return "answer"
    if set(found) & _BEFORE:
        return ""
    if last in _IDS and previous in _ENTITIES and found[0] == "target":
        return ""  # what is recommended, next to a history
    begins = found[0] == "target" or key.lower().startswith(("label_", "class_label"))
    if begins and not (says_shape(key) or says_count(key)):
        return "answer"
    if last in _IDS and (last == "ids" or several or last in ("index", "idx")):
        alone = parts[-1] == last != "ids"
        return "info" if previous in _RECORDS or alone else ""
    if (last in _INFO or parts[-1] in _INFO) and previous not in _LEARNED_IDS:
        return "info"
    if tuple(found[-2:]) in _INFO_PAIRS or (
        found[0] in _BEFORE_CHANGES and (says_shape(key) or _is_axis(last))
    ):
        return "info"
    if last == "name" and (previous in _NAMED_THINGS or not before):
        return "info"
    return "answer" if set(parts[:-1]) & _ANSWER_PARTS else ""


def says_axis(key: str) -> bool:
    """Tell whether a key names the size of an axis: height, image/width, depth."""
    return _is_axis(last_word(key))


def _is_axis(word: str) -> bool:
    return any(word in _SAYS[axis] for axis in AXES)


def is_seldom_answer(key: str) -> bool:
    """Tell whether a key holds tokens, a part of a date, or a size."""
    size = len(last_word(key)) > 1 and says_axis(key)
    return (
        bool(set(words_of(key)) & _SELDOM) or size or says_shape(key) or says_count(key)
    )


def names_object(key: str) -> bool:
    """Tell whether a key says something of each object in a picture."""
    return any(set(words_of(part)) & _OBJECTS for part in re.split(r"[/.]", key)[:-1])


def says_count(key: str) -> bool:
    """Tell whether a key counts something: num_boxes, boxes/count, length."""
    return bool(set(words_of(key)[::-1][:1] + words_of(key)[:1]) & _COUNTS)


def counts_key(count: str, key: str) -> bool:
    """Tell whether a count names what a key holds: num_points, points/count."""
    for part in count.split("/")[::-1]:
        counted = set(words_of(part)) - _COUNTS
        if counted:
            own = set(words_of(key))
            return any(own & {word, f"{word}s", word.rstrip("s")} for word in counted)
    return False


def names_class(key: str) -> bool:
    """Tell whether a key speaks of a class: label, class_id, image/class/label."""
    found = words_of(key)
    if not found:
        return False
    if found == ["y"] or found[-1] in LABELS | _PLURALS:
        return True
    return found[-1] in _IDS and len(found) > 1 and found[-2] in LABELS | _PLURALS


def names_text_of(key: str, label: str) -> bool:
    """Tell whether a key seems to hold the names of what stands under another."""
    found = words_of(key)
    if not found or found[-1] not in _NAMES:
        return False
    return bool(set(found[:-1]) & set(words_of(label)) & (LABELS | _PLURALS))


def names_learned_id(key: str) -> bool:
    """Tell whether a key names an id that a model learns from, such as user_id."""
    return bool(set(words_of(key)) & _LEARNED_IDS)


def names_tokens(key: str) -> bool:
    """Tell whether a key holds ids of tokens: masked_lm_ids, target_token."""
    return bool(set(words_of(key)) & TOKENS)


def names_time(key: str) -> bool:
    """Tell whether a key names a point in time: timestamp, created_at, release_date."""
    return bool(set(words_of(key)) & _TIMES)


def names_event(key: str) -> bool:
    """Tell whether a key names what either happened or did not, and not before."""
    return last_word(key) in _EVENTS and not set(words_of(key)) & _BEFORE


def target_rank(key: str) -> int:
    """Rank keys by their words: from 0, the likeliest target, to 3 and above for none.

    The last word of a key says what it is.
    """
    *before, last = words_of(key) or [""]
    if last not in _SPEAKS_OF["target"] or set(before) & _BEFORE:
        return 3 if speaks_of(key, "target") else 4
    if last == "value" and before:
        return 1 if before[-1] in _PRICED else 3
    return 0 if last in _EVENTS else 2 if last in _OFTEN_INPUTS else 1


def is_flag(key: str) -> bool:
    """Tell whether a key asks for yes or no."""
    found = words_of(re.split(r"[/.]", key)[-1])
    if not found:
        return False
    asks = found[0] in _FLAGS and len(found) > 1
    return asks or found[-1] in _FLAG_WORDS or found[-2:] == ["group", "of"]


def says(key: str, what: str) -> bool:
    """Tell whether a key names an axis, such as "height", a "corner" or a "format"."""
    return last_word(key) in _SAYS[what]


def speaks_of(key: str, what: str) -> bool:
    """Tell whether a word of a key is one of an "image", "sound", a "mask" or a "target"."""
    return bool(set(words_of(key)) & _SPEAKS_OF[what])


def says_rate(key: str) -> bool:
    """Tell whether a key states how many samples a second has: sample_rate, audio/sr."""
    return last_word(key) in _RATES and "frame" not in words_of(key)


def says_shape(key: str) -> bool:
    """Tell whether a key names sizes: shape, x_shape, shape1."""
    return last_word(key.rstrip("0123456789")) in _SHAPES


def says_one_size(key: str) -> bool:
    """Tell whether a key names the size of one axis by its number: x_size_0, dim1."""
    return key[-1:].isdecimal() and says_shape(key)


def item_size(key: str) -> int:
    """Return how many numbers an item has by a key's name: 3 of xyz; 0 if none."""
    return _ITEMS.get(last_word(key), 0)


def stem_of_shape(key: str) -> str:
    """Return what a key names the sizes of: `arr` of arr_shape, `x` of x/shape."""
    plain = key.rstrip("0123456789").rstrip("/._-")
    return plain[: -len(last_word(plain))].rstrip("/._-") if says_shape(key) else ""


def extends(key: str, stem: str) -> bool:
    """Tell whether a key is a stem or goes on with words behind it."""
    rest = key[len(stem) :]
    return key.startswith(stem) and (not rest or not rest[0].islower())


def split_before(key: str) -> tuple[str, str]:
    """Return the name of a split with which a key begins, and the rest of the key."""
    found = re.match(r"([a-z]+)[/._-](.+)", key, re.IGNORECASE | re.DOTALL)
    named = found is not None and found[1].lower() in _SPLITS
    return (found[1], found[2]) if found is not None and named else ("", key)


def parent_of(key: str) -> str:
    """Return what stands before the last separator of a key; "" without one."""
    return key.rpartition("/")[0]


def nearest(keys: Iterable[str], key: str) -> list[str]:
    """Sort keys by how much of their beginning they share with another."""

    def shared(other: str) -> int:
        pairs = zip(other.split("/"), key.split("/"), strict=False)
        return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

    return sorted(keys, key=lambda other: (-shared(other), len(other), other))
