"""MOCC's landmark objectives (section 4.2): the table `landmarks` of a training configuration."""

from __future__ import annotations

from pydantic import Field, PositiveInt, model_validator

from weir.trainer.configuration.settings import Settings

Weights = tuple[float, float, float]
# Weights as multiples of the step: exact, where sums of tenths are not.
Landmark = tuple[int, int, int]


class LandmarkSettings(Settings):
    """The table `landmarks`, for `objective = "landmarks"`.

    The landmarks are all objectives whose weights are positive multiples of `step`: 36 for 0.1, as in MOCC's Table 2.
    First come the `bootstrap` objectives, in turn, for `bootstrap_share` of all steps. The rest is `visits` rounds over
    all landmarks, in the order of the neighbourhood sort.
    """

    step: float = Field(0.1, ge=0.02, le=1.0 / 3.0 + 1e-9)
    bootstrap: tuple[Weights, ...] = Field(((0.6, 0.3, 0.1), (0.1, 0.6, 0.3), (0.3, 0.1, 0.6)), min_length=1)
    bootstrap_share: float = Field(0.2, ge=0.0, le=1.0)
    visits: PositiveInt = 10

    @model_validator(mode="after")
    def _on_the_grid(self) -> LandmarkSettings:
        if abs(self.divisions * self.step - 1.0) > 1e-6:
            raise ValueError(f"step {self.step:g}: must divide 1, as 0.1 or 0.05 do")
        known = set(landmarks(self.divisions))
        for weights in self.bootstrap:
            units = tuple(round(weight * self.divisions) for weight in weights)
            exact = all(abs(unit / self.divisions - weight) < 1e-6 for unit, weight in zip(units, weights, strict=True))
            if not exact or units not in known:
                raise ValueError(
                    f"bootstrap {list(weights)}: is no landmark: three positive multiples of {self.step:g} of sum 1"
                )
        if len(set(self.bootstrap)) != len(self.bootstrap):
            raise ValueError("bootstrap: an objective is there twice")
        return self

    @property
    def divisions(self) -> int:
        """How many steps make 1."""
        return round(1.0 / self.step)

    @property
    def bootstrap_landmarks(self) -> tuple[Landmark, ...]:
        """`bootstrap` in multiples of the step."""
        first, second, third = zip(*self.bootstrap, strict=True)
        return tuple(
            (round(a * self.divisions), round(b * self.divisions), round(c * self.divisions))
            for a, b, c in zip(first, second, third, strict=True)
        )


def landmarks(divisions: int) -> list[Landmark]:
    """All (i, j, k) of positive integers with the sum `divisions`, in lexicographic order: (n - 1)(n - 2) / 2 of them.

    Weights of 0 are left out: such objectives make no sense for any application (MOCC, section 4.2).
    """
    return [(i, j, divisions - i - j) for i in range(1, divisions - 1) for j in range(1, divisions - i)]
