"""Plans, and the serializers that they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ..shared.errors import DatasetError, SchemaMismatchError
from ..shared.values import described
from ..storage.schema import Schema
from ..writing.chunks import encoding_of
from ..writing.encoding import Encoding
from ..writing.plan import Plan

__all__ = ["Plan", "Serializer", "serializer_of"]


@dataclass(frozen=True)
class Serializer:
    """The part of a generated `serializer.py` that writing needs.

    Attributes:
        serialize: from keywords to a serialized record.
        schema: the schema of the records.
    """

    serialize: Callable[..., bytes]
    schema: Schema

    def encoding(self, plan: Plan) -> Encoding:
        """Return how rows become records; errors are those of `check`."""
        self.check(plan)
        return encoding_of(self.serialize, plan)

    def check(self, plan: Plan) -> None:
        """See that a plan is one for these records.

        Raises:
            TypeError: it is not a plan.
            SchemaMismatchError: it was made for another schema.
        """
        if not isinstance(plan, Plan):
            raise TypeError(
                f"plan is {described(plan)}, expected what plan_dataset or "
                "Plan.from_json returns"
            )
        if (self.schema.record, self.schema.fingerprint) != (
            plan.record,
            plan.fingerprint,
        ):
            raise SchemaMismatchError(
                f"{plan.where}: the plan was made for {plan.record!r} records with "
                f"fingerprint {plan.fingerprint}, and {plan.module} here has "
                f"{self.schema.record!r} with {self.schema.fingerprint}; run the same "
                "version of the code in all processes"
            )


def serializer_of(plan: Plan) -> Serializer:
    """Import the serializer that a plan names.

    Raises:
        DatasetError: this process cannot import it.
    """
    try:
        module = import_module(plan.module)
        return Serializer(module.serialize, module.Writer.schema)
    except (ImportError, AttributeError) as error:
        raise DatasetError(
            f"{plan.where}: the serializer {plan.module!r} cannot be imported here "
            f"({error}); install the generated package on every worker, or add its "
            "directory to PYTHONPATH there"
        ) from error
