"""One HTML page about data, which a person wants to look at: complete in one file.

```
DataStatistics, samples, Verification ──► view.Page ──► page.html.jinja ──► a file
        (measured elsewhere)              (pure)       (escapes all text)
```

Plots are Vega-Lite specs, rendered while the page is made; the page runs one script of
its own and asks nobody for anything.
"""
