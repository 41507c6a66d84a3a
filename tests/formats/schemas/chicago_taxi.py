"""Chicago taxi trips, as a table of the city's: any cell may be empty."""

from typing import Annotated

from schemagen import Record, Scalar, Text


class TaxiTrip(Record):
    """One trip. Numbers that no one wrote down are 0, words are empty."""

    trip_start_timestamp: Annotated[int, Scalar("int64", role="info")]
    trip_start_month: int = 0
    trip_start_day: int = 0
    trip_start_hour: int = 0
    pickup_community_area: int = 0
    dropoff_community_area: float = 0.0
    pickup_latitude: float = 0.0
    pickup_longitude: float = 0.0
    dropoff_latitude: float = 0.0
    dropoff_longitude: float = 0.0
    pickup_census_tract: str = ""
    dropoff_census_tract: float = 0.0
    trip_miles: float = 0.0
    trip_seconds: float = 0.0
    fare: float = 0.0
    payment_type: str = ""
    company: Annotated[str, Text(presence=True)] = ""
    tips: Annotated[float, Scalar("float32", exact=False, role="target")] = 0.0
