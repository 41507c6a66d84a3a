"""RLDS: a robot's episodes, as the Open X-Embodiment datasets store them."""

from typing import Annotated

import numpy as np
from pydantic import BaseModel
from schemagen import Images, Record, VarLen

FRAME = (4, 6, 3)


class Observation(BaseModel):
    """What the robot saw and felt, step by step."""

    image: Annotated[list[bytes], Images(FRAME, encoding="png", group="steps")]
    wrist_image: Annotated[list[bytes], Images(FRAME, encoding="png", group="steps")]
    state: Annotated[np.ndarray, VarLen("float32", item_shape=(7,), group="steps")]


class Steps(BaseModel):
    """One entry a step."""

    observation: Observation
    action: Annotated[np.ndarray, VarLen("float32", item_shape=(7,), group="steps")]
    reward: Annotated[list[float], VarLen("float32", group="steps")]
    discount: Annotated[list[float], VarLen("float32", group="steps")]
    is_first: Annotated[list[bool], VarLen("bool", group="steps")]
    is_last: Annotated[list[bool], VarLen("bool", group="steps")]
    is_terminal: Annotated[list[bool], VarLen("bool", group="steps")]
    language_instruction: Annotated[list[str], VarLen("string", group="steps")]


class EpisodeMetadata(BaseModel):
    """Where the episode comes from."""

    file_path: str


class RobotEpisode(Record):
    """One episode."""

    episode_metadata: EpisodeMetadata
    steps: Steps
