"""Lists of words that the reductions of captions look at; all are small and closed, and meant to be read."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.replace("\n", " ").split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.replace(",", "\n").split("\n") if line.strip())


#: Spellings of one word, by regular expression; `{0}` is what the first group holds.
SPELLINGS = {
    r"\b(?:bar[- ]?b[- ]?q(?:ue)?|bbq|barbeque)\b": "barbecue",
    r"\bgrey(ish)?\b": "gray{0}",
    r"\bwater[- ]ski(s|ing|er|ers|es|ed)?\b": "waterski{0}",
    r"\bt[- ]?shirt(s)?\b": "t-shirt{0}",
    r"\b(black|blond|blonde|brown|dark|gray|red|white|long|short|curly)[- ](haired)\b": "{0}-haired",
    r"\bcell ?phone(s)?\b": "cellphone{0}",
    r"\bskate board(s|er|ers|ing)?\b": "skateboard{0}",
    r"\bsnow board(s|er|ers|ing)?\b": "snowboard{0}",
    r"\bsun ?glasses\b": "sunglasses",
    r"\bside ?walk(s)?\b": "sidewalk{0}",
    r"\bmulti[- ]?colou?red\b": "multicolored",
    r"\bcolour(s|ed|ful|ing)?\b": "color{0}",
    r"\bpyjama(s)?\b": "pajama{0}",
    r"\bteeter[- ]totter(s)?\b": "seesaw{0}",
}
#: Verbs in -s that taggers take for nouns: after a noun for a person or an animal, they are verbs.
VERBS_IN_S = _words(
    """balances barks bends blows bounces bows brushes builds carries catches chases checks cheers claps cleans
    climbs cooks covers crawls crosses cuts dances dives draws dresses drinks drives drops eats enjoys enters
    exits faces falls feeds fights fishes fixes flips flies gathers gazes gestures gets gives goes grabs
    grills hangs helps hikes hits holds hugs hurdles jogs jumps keeps kicks kisses kneels knits laughs lays
    leans leaps leaves licks lies lifts lights listens looks makes meets observes opens paddles paints passes
    performs picks pitches plants plays points pokes poses pours practices prepares pulls punches pushes puts
    races raises reaches reads relaxes rests rides rows rubs runs sells serves sets sews shakes shoots shops
    shows sings sits skates sketches skis sleeps slides smells smiles smokes spins splashes sprays squats
    stands stares steps stirs stops stretches strums surfs swims swings takes talks throws ties touches
    travels tries turns uses waits wakeboards walks washes watches waters waves wears weaves whistles works
    wrestles writes yawns yells"""
)
#: Numbers and quantities as {two, three, some}; "" is dropped.
COUNTS = {
    "two": "two", "2": "two", "three": "three", "3": "three", "no": "no", "one": "", "1": "",
    **dict.fromkeys(
        _words(
    """some several many few various multiple numerous all both these those four five six seven eight nine ten
    eleven twelve thirteen fourteen fifteen twenty thirty dozen dozens couple 4 5 6 7 8 9 10 11 12 20"""
),
        "some",
    ),
}  # fmt: skip
#: Determiners that are dropped.
DROPPED = _words("a an the this that another other each every any either neither his her its their my your our")
#: Nouns that are determiners before "of": "a couple of men", "a kind of bread".
QUANTITIES = {
    "couple": "some", "lot": "some", "number": "some", "dozen": "some", "variety": "some", "ton": "some",
    "kind": "", "type": "", "sort": "", "pair": "", "set": "", "form": "",
}  # fmt: skip
#: Noun phrases whose "of" belongs to the head.
WHOLE_OF = _phrases("body of water, line of sight, slice of life, jack of all trades")
#: Nouns that stand for the whole of "X of Y" as well as Y does.
PARTITIVES = _words(
    """group crowd team gathering bunch band line row circle cluster crew class family flock herd pack pile
    stack mass parade audience assortment array collection series string cup glass mug bottle bowl plate tray
    basket bucket bag box can jar pot pitcher keg case cart load piece slice chunk loaf bundle bouquet bushel
    handful body sheet stream pool cloud trail field patch batch party squad troop trio duo"""
)
#: Sizes and ages say something of a noun, not of its hypernyms: a large mouse is no large animal.
SIZES_AND_AGES = _words(
    """big elderly large little small tiny huge tall short giant old older oldest young younger youngest adult
    middle-aged aged teenage adolescent baby newborn miniature massive enormous"""
)
#: Verbs that say little without their objects.
LIGHT_VERBS = _words(
    """apply attempt be begin wear catch cover display do enjoy get give have help leave make open operate pass
    perform play practice prepare put raise share shoot show surround take try use"""
)
#: Verbs before "to": of posture and movement (both parts are true), others of which only the second part is true; after
#: all other verbs (wait, prepare), only the first is.
BOTH_TO = _words(
    """jump leap run walk dive bend stoop kneel lean reach sit stand crouch climb stretch swim slide stop turn
    go come gather step rush hurry rise squat lunge fly ride drive race head travel line gallop crawl skate
    ski pose hop march"""
)
SECOND_TO = _words("seem appear begin start continue try attempt get manage happen proceed use used keep finish stop")
#: Phrasal verbs whose particle may go: "climb up a mountain" is "climb a mountain".
PARTICLES = {
    ("climb", "up"), ("climb", "down"), ("stand", "up"), ("sit", "down"), ("lie", "down"), ("kneel", "down"),
    ("lay", "down"),
    ("bend", "over"), ("bend", "down"), ("squat", "down"), ("wake", "up"), ("line", "up"), ("lean", "over"),
    ("eat", "up"),
    ("drink", "up"), ("clean", "up"), ("wash", "up"), ("wash", "off"), ("paint", "over"), ("fill", "up"),
    ("lift", "up"),
    ("raise", "up"), ("hang", "up"), ("wrap", "up"), ("cut", "up"), ("chop", "up"), ("cover", "up"), ("open", "up"),
    ("gather", "around"), ("crowd", "around"), ("spread", "out"), ("stretch", "out"), ("reach", "out"),
}  # fmt: skip
#: Particles of these verbs are prepositions: "walk down a street" is "walk" with a phrase that may go.
MOVEMENTS = _words(
    """walk run ride drive ski skate skateboard bike cycle slide jog march travel go come move fly fall roll
    hike swim row paddle jump leap dive stroll race speed crawl sled snowboard surf look stare gaze drive
    sail ski float glide dance"""
)
#: Prepositions whose phrases stay: dropping them would say something else.
KEPT_PREPOSITIONS = _words("of like as about than without except per")
#: "in X" and "dressed in X" say "wear X" of clothing and colours.
COLOURS = _words(
    "red blue green yellow black white pink purple orange brown gray grey beige tan gold silver camouflage"
)
#: Top nouns of entity classes: nouns under them in the lexicon belong to the class, as these words do.
CLASSES = {
    "person": _words(
    """person people adult child man woman boy girl baby kid toddler infant guy lady gentleman male female teen
    teenager youth couple group crowd team family player worker athlete performer musician someone somebody
    he she they him them her himself herself themselves individual friend"""
),
    "animal": _words("animal dog cat horse bird cow sheep goat puppy pony bull elephant monkey fish duck pet"),
    "clothing": _words(
    """clothing clothes shirt t-shirt hat cap coat jacket dress skirt pants jeans jean shorts uniform suit
    outfit sweater sweatshirt costume vest scarf glove gloves helmet shoe shoes boot boots swimsuit bikini
    robe apron jersey glasses sunglasses goggles hoodie attire gear tuxedo gown bandanna wetsuit overalls
    trunks tie belt blouse headphones backpack pajamas sandals underwear kimono turban leotard sari top tank"""
),
    "body": _words(
    """hair beard mustache moustache arm arms hand hands leg legs face head eye eyes mouth ponytail goatee
    mohawk tattoo tattoos back foot feet finger nose tongue braid bun dreadlocks"""
),
    "food": _words("food meal fruit vegetable sandwich cake pizza snack bread meat soup candy dessert cream"),
    "drink": _words("drink beverage beer wine coffee tea water juice soda cup glass bottle mug can pitcher"),
    "vehicle": _words("vehicle car truck bus bike bicycle motorcycle van boat train taxi cart scooter wagon tractor"),
}  # fmt: skip
#: Women and girls and children, for the two senses of "girl".
WOMEN = _words("woman lady teen teenager adult female mother bride actress")
CHILDREN = _words("child kid toddler baby boy infant")
#: Forms kept apart from homonymous nouns.
KEPT_FORMS = {"dress": "dressed", "stand": "standing", "park": "parking"}
#: Lemmas that are written as one.
LEMMAS = {"people": "person", "persons": "person", "childs": "child", "tshirt": "t-shirt", "clothes": "clothing"}
PRONOUN_SUBJECTS = _words("there here this these that it")
RELATIVES = _words("who which that whom whose")
