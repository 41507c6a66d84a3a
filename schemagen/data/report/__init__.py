"""One HTML page about data, which a person wants to look at: complete in one file.

```
DataStatistics, specs, Verification ──► view.Page ──► page.html.jinja ──► a file
        (measured elsewhere)          (assembling)   (escapes all text)   (writing)
```

Plots are Vega-Lite specs, rendered while the page is made; the page runs one script of
its own and asks no one for anything.
"""

from .writing import check_target, specs_of, write_report

__all__ = ["check_target", "specs_of", "write_report"]
