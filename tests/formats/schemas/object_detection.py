"""The TensorFlow Object Detection API's records: COCO, PASCAL VOC, Open Images."""

from typing import Annotated

from schemagen import Image, Record, Text, VarLen


def of_boxes(dtype: str, key: str) -> VarLen:
    """Declare what there is one of for each box."""
    return VarLen(dtype, group="boxes", key=f"image/object/{key}", role="info")


class ObjectDetection(Record):
    """One image with the boxes around its objects, relative to its size."""

    image: Annotated[
        bytes,
        Image(
            (None, None, 3),
            encoding="any",
            key="image/encoded",
            height_key="image/height",
            width_key="image/width",
            format_key="image/format",
        ),
    ]
    filename: Annotated[str, Text(key="image/filename", role="info")] = ""
    source_id: Annotated[str, Text(key="image/source_id", role="info")] = ""
    sha256: Annotated[str, Text(key="image/key/sha256", role="info")] = ""

    xmin: Annotated[list[float], of_boxes("float32", "bbox/xmin")]
    xmax: Annotated[list[float], of_boxes("float32", "bbox/xmax")]
    ymin: Annotated[list[float], of_boxes("float32", "bbox/ymin")]
    ymax: Annotated[list[float], of_boxes("float32", "bbox/ymax")]
    label: Annotated[list[int], of_boxes("int64", "class/label")]
    text: Annotated[list[str] | None, of_boxes("string", "class/text")] = None
    area: Annotated[list[float] | None, of_boxes("float32", "area")] = None
    is_crowd: Annotated[list[bool] | None, of_boxes("bool", "is_crowd")] = None
    difficult: Annotated[list[bool] | None, of_boxes("bool", "difficult")] = None
    group_of: Annotated[list[bool] | None, of_boxes("bool", "group_of")] = None
    weight: Annotated[list[float] | None, of_boxes("float32", "weight")] = None
