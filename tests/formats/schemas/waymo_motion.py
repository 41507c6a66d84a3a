"""Waymo Open Motion: the tracks of agents in traffic, and the road around them."""

from typing import Annotated

import numpy as np
from pydantic import BaseModel
from schemagen import Nested, Record, Vector

AGENTS = 128
POINTS = 50


class Past(BaseModel):
    """Ten steps a second, up to now."""

    x: Annotated[np.ndarray, Vector((AGENTS, 10))]
    y: Annotated[np.ndarray, Vector((AGENTS, 10))]
    bbox_yaw: Annotated[np.ndarray, Vector((AGENTS, 10))]
    valid: Annotated[np.ndarray, Vector((AGENTS, 10), "int64")]


class Future(BaseModel):
    """What is to be predicted: eight seconds."""

    x: Annotated[np.ndarray, Vector((AGENTS, 80), role="target")]
    y: Annotated[np.ndarray, Vector((AGENTS, 80), role="target")]
    valid: Annotated[np.ndarray, Vector((AGENTS, 80), "int64", role="info")]


class State(BaseModel):
    """All agents; those that are not there have valid 0."""

    id: Annotated[np.ndarray, Vector((AGENTS,), role="info")]
    type: Annotated[np.ndarray, Vector((AGENTS,))]
    is_sdc: Annotated[np.ndarray, Vector((AGENTS,), "int64")]
    past: Past
    future: Future


class Road(BaseModel):
    """Points along lanes, edges and crossings."""

    xyz: Annotated[np.ndarray, Vector((POINTS, 3))]
    type: Annotated[np.ndarray, Vector((POINTS, 1), "int64")]
    valid: Annotated[np.ndarray, Vector((POINTS, 1), "int64")]


class Scenario(BaseModel):
    """Which scene it is cut from."""

    id: bytes


class WaymoMotion(Record):
    """Nine seconds of one scene."""

    state: State
    road: Annotated[Road, Nested(key="roadgraph_samples")]
    scenario: Scenario
