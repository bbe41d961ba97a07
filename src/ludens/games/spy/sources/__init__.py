"""Sources of image pairs that come from files: rendered scenes, charts, photographs.

Each module has a generator that fills a picture set; `ludens data spy/NAME` runs it.
"""

CATALOGUE = {
    "spy/chart": "ludens.games.spy.sources.charts:ChartPairs",
    "spy/clevr": "ludens.games.spy.sources.clevr:Clevr",
    "spy/photos": "ludens.games.spy.sources.photos:Photos",
}
