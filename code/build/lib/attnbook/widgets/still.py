"""The picture that stands for a widget where no script runs."""

from __future__ import annotations

import base64


class StillPicture:
    """Puts a widget's `png()` beside its view: GitHub, PDF and the page before it wakes show it.

    Stands before the widget class among the bases.
    """

    def png(self) -> tuple[bytes, int, int]:
        """PNG bytes, and width and height in CSS pixels."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        picture, width, height = self.png()
        data = {**data, "image/png": base64.b64encode(picture).decode("ascii")}
        return data, {**metadata, "image/png": {"width": width, "height": height}}
