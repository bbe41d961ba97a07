"""The words of the manuals: the published list, and a stock from which other lists are drawn."""

from __future__ import annotations

_PUBLISHED = """
about after again below could every first found great house large learn never other place plant point
right small sound spell still study their there these thing think three water where which world would
write
"""

_STOCK = """
acorn actor album alert amber angle ankle apple apron arrow atlas bacon badge baker basil basin beach
berry bison blaze blend bloom board boost bonus brain brave bread brick bride brook broom brush cabin
cable camel candy canoe cargo carol cedar chalk charm chess chest chief choir cider cigar cliff clock
cloud clown coach coral crane cream crown cycle daisy dance delta depot diary diner ditch dizzy donor
dough draft drama dream dress drift eagle early earth easel elbow ember empty enjoy equal event exact
fable fairy fancy feast fence ferry fever field flame fleet flint flock flour fluid flute forge frame
fresh frost fruit giant glass globe glove grain grape grass green guest guide habit hatch hazel heart
hedge heron hobby honey horse hotel humor ideal index inlet ivory jewel joker jolly judge juice
kayak knife knock label lemon level light lilac linen llama lodge lucky lunar magic maple march marsh
medal melon mercy metal minor model moist money month motor mount mouse music nerve niece night noble
north novel nurse oasis ocean olive onion opera orbit organ otter owner paint panel paper parka patio
pearl pedal penny piano pilot pitch pixel plank plate plaza polar porch pound press price pride prism
proud pulse puppy quack quail quart queen quiet quilt radar radio raven relay rider rival river roast
robin robot rocky rodeo royal ruler salad salon sauce scarf scene scout shade shape sheep shelf shell
shirt shore shrub siren skate skill slate sleep slope smile smoke snack solar spade spark spice spoon
sport squad squid stamp steel stone stork storm straw sugar sunny swamp swing sword table tango tiger
toast token tonic topaz torch tower track trade trail train tribe trout truck tulip tunic tutor twist
uncle urban valve vapor vault video viola visit vivid voice wagon waltz wheat wheel whale wrist
yacht yeast yield young zebra
"""

PUBLISHED_WORDS = tuple(_PUBLISHED.split())
STOCK = tuple(_STOCK.split())
