"""Sentences about where, when and how much: places, clock times, dates, prices, the weather."""

from random import Random

from transformer_edu.training.data.everyday.actions import Action, actions
from transformer_edu.training.data.everyday.choices import company, same_people, time_for, times
from transformer_edu.training.data.everyday.clauses import (
    Clause,
    Pair,
    finish,
    join,
    question,
    statement,
)
from transformer_edu.training.data.everyday.english_forms import finite_form
from transformer_edu.training.data.everyday.german_verbs import finite
from transformer_edu.training.data.everyday.noun_phrases import nouns_of, phrase
from transformer_edu.training.data.everyday.numbers import (
    clock,
    english_number,
    english_ordinal,
    german_number,
    german_ordinal,
    month,
)
from transformer_edu.training.data.everyday.sentences_being import be_and_sein
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    pronoun,
    relative,
    somebody,
)
from transformer_edu.training.data.everyday.tables import read_table

MINUTES = (0, 0, 0, 0, 15, 30, 30, 45, 5, 10, 20, 40, 50, 55)
WHERE = {"on": "auf", "under": "unter", "next to": "neben", "behind": "hinter",
         "in front of": "vor", "in": "in"}  # fmt: skip
STANDING = {"cup", "plate", "bowl", "pot", "pan", "wine glass", "bottle", "suitcase", "lamp"}
DAYS = ["Monday", "Montag", "Tuesday", "Dienstag", "Wednesday", "Mittwoch", "Thursday", "Donnerstag", "Friday", "Freitag", "Saturday", "Samstag", "Sunday", "Sonntag"]
CONTRACTIONS = (("in dem ", "im "), ("in das ", "ins "), ("an dem ", "am "), ("an das ", "ans "))


def go_to(english: str, goal: str, *, verb: str) -> Action:
    """The action of going somewhere: gehen, fahren where it is far, reisen farther still."""
    tags = frozenset({"fun", "social"})
    return Action(f"go {english}", verb, "", "", "", goal, f"nicht {goal}", True, tags)


def going(rng: Random) -> Pair:
    """We're going to the station. My parents went to Italy last summer."""
    subject = somebody(rng)
    if rng.random() < 0.4:
        row = rng.choice(read_table("countries"))
        goal = row["german_to"] or f"nach {row['german']}"
        action = go_to(
            f"to {row['english']}", goal, verb="reisen" if "far" in row["kind"] else "fahren"
        )
        modes, extra = ["past", "going to", "want to", "would like to", "past"], ("", "")
    else:
        row = rng.choice([r for r in read_table("places") if "daily" in r["classes"] or "way" in r["classes"]
                          or "trip" in r["classes"]])  # fmt: skip
        far = "trip" in row["classes"].split()
        action = go_to(row["to"], row["german_to"], verb="fahren" if far else "gehen")
        modes = ["past", "progressive", "have to", "want to", "going to", "would like to", "past"]
        extra = company(rng, subject) if rng.random() < 0.2 else ("", "")
    mode = rng.choice(modes)
    tense = {"past": "past", "progressive": ""}.get(mode, "plan")
    time = time_for(rng, action, tense) if tense and rng.random() < 0.6 else ("", "")
    if rng.random() < 0.15 and mode in ("past", "progressive", "going to"):
        asked = pronoun("du")
        return finish(question(Clause(asked, action, mode, time=time)), "?")
    negative = rng.random() < 0.12 and not extra[0] and mode not in ("would like to",)
    clause = Clause(subject, action, mode, negative, time, extra=extra)
    return finish(statement(clause, front=rng.random() < 0.25))


def being_somewhere(rng: Random) -> Pair:
    """Where are the children? My father is at work. Were you at home yesterday?"""
    subject = somebody(rng)
    row = rng.choice([r for r in read_table("places") if r["classes"] != "way"])
    kind = rng.random()
    tense = "past" if kind < 0.45 else "present"
    be, sein = be_and_sein(subject, tense)
    time = rng.choice(times("past")) if tense == "past" and rng.random() < 0.6 else None
    when, wann = (time["english"], time["german"]) if time else ("", "")
    name = subject.german["nom"]
    if kind < 0.1 and not subject.english == "I":
        return finish(
            (f"where {be} {subject.english} {when}".strip(), f"wo {sein} {name} {wann}".strip()),
            "?",
        )
    if kind < 0.2 and subject.english != "I":
        return finish(
            (join(be, subject.english, row["at"], when), join(sein, name, wann, row["german_at"])),
            "?",
        )
    return finish(
        (join(subject.english, be, row["at"], when), join(name, sein, wann, row["german_at"]))
    )


def doing_there(rng: Random) -> Pair:
    """The children are playing in the garden. We'll meet at the station at six o'clock."""
    kind = rng.choice(["read", "meet", "play", "meet", "wait"])
    subject = somebody(rng)
    classes = "meet" if kind == "wait" else kind
    row = rng.choice([r for r in read_table("places") if classes in r["classes"].split()])
    place = row["at"], row["german_at"]
    if kind == "meet":
        time = clock_time(rng)
        if rng.random() < 0.5:
            return finish(
                (f"let's meet {place[0]} at {time[0]}", f"treffen wir uns um {time[1]} {place[1]}")
            )
        day = rng.choice(times("plan"))
        english = f"{rng.choice(['we will', 'we are going to'])} meet {place[0]} {day['english']}"
        return finish((english, f"wir treffen uns {day['german']} {place[1]}"))
    if kind == "wait":
        other = any_pronoun(rng)
        while same_people(other.german_person, subject.german_person):
            other = any_pronoun(rng)
        base = Action(
            f"wait for {other.english_object}",
            "warten",
            "",
            "",
            "",
            f"auf {other.german['acc']}",
            f"nicht auf {other.german['acc']}",
            False,
            frozenset({"now"}),
        )
    else:
        reading = ["read a book", "drink coffee", "read the newspaper", "listen to music"]
        ball = row["at"] in ("at the park", "in the yard", "at the lake", "in the garden")
        playing = ["play cards"] + ["play soccer"] * ball
        name = rng.choice(reading if kind == "read" else playing)
        base = next(a for a in actions() if a.english == name)
    mode = rng.choice(["past", "progressive", "progressive"])
    return finish(statement(Clause(subject, base, mode, extra=place)))


def position(rng: Random) -> Pair:
    """The keys are on the table. Put the cup on the table."""
    thing_noun = rng.choice(nouns_of("portable kitchen"))
    where = rng.choice(list(WHERE))
    wo = WHERE[where]
    target = rng.choice(nouns_of("=box =drawer =basket =closet" if where == "in" else "surface"))
    if where != "in" and target.english in ("floor",):
        where, wo = "on", "auf"
    if where in ("behind", "in front of"):
        target = rng.choice(nouns_of("=door =sofa =lamp =computer =television =box"))
    place = phrase(target, "the")
    thing = phrase(
        thing_noun, rng.choice(["the", "my", "your"]), plural="paired" in thing_noun.classes
    )
    lies = "stehen" if thing_noun.english in STANDING else "liegen"
    be = finite_form("be", thing.person, "present")
    verb = finite(lies, thing.german_person, "present")
    dative, accusative = (
        contract(f"{wo} {place.german[case]} ").strip() for case in ("dat", "acc")
    )
    kind = rng.random()
    if kind < 0.5:
        return finish(
            (
                f"{thing.english} {be} {where} {place.english}",
                f"{thing.german['nom']} {verb} {dative}",
            )
        )
    if kind < 0.65:
        return finish(
            (
                f"{be} {thing.english} {where} {place.english}",
                f"{verb} {thing.german['nom']} {dative}",
            ),
            "?",
        )
    if kind < 0.8:
        some = phrase(thing_noun, "a")
        if some.plural:
            return position(rng)
        return finish(
            (
                f"there is {some.english} {where} {place.english}",
                f"{dative} {finite(lies, 'es', 'present')} {some.german['nom']}",
            )
        )
    put, imperative = ("stellen", "stell") if lies == "stehen" else ("legen", "leg")
    if kind < 0.9:
        return finish(
            (
                f"put {thing.english} {where} {place.english}",
                f"{imperative} {thing.german['acc']} {accusative}",
            )
        )
    who = any_pronoun(rng)
    haben = finite("haben", who.german_person, "present")
    participle = {"stellen": "gestellt", "legen": "gelegt"}[put]
    thing = phrase(thing_noun, "the")
    return finish(
        (
            f"{who.english} put {thing.english} {where} {place.english} yesterday",
            f"{who.german['nom']} {haben} gestern {thing.german['acc']} {accusative} {participle}",
        )
    )


def contract(text: str) -> str:
    """im for in dem, and the like."""
    for long, short in CONTRACTIONS:
        text = text.replace(long, short)
    return text


def clock_time(rng: Random) -> Pair:
    """A time of the clock."""
    return clock(rng.randint(1, 12), rng.choice(MINUTES))


def telling_time(rng: Random) -> Pair:
    """It is half past three. The train leaves at a quarter to nine."""
    now, jetzt = clock_time(rng)
    scheduled = phrase(rng.choice(nouns_of("scheduled =plane")), "the")
    city = rng.choice(
        [
            r
            for r in read_table("countries")
            if r["kind"].startswith("city") and "far" not in r["kind"]
        ]
    )
    shop = phrase(
        rng.choice(
            nouns_of("=supermarket =bakery =pharmacy =library =museum =bank =zoo =swimming_pool")
        ),
        "the",
    )
    event = phrase(rng.choice(nouns_of("event =movie =show")), "the")
    day = rng.choice(times("plan"))
    train, zug = scheduled.english, scheduled.german["nom"]
    possible = [
        (f"it is {now}", f"es ist {jetzt}", "."),
        (f"it's {now}", f"es ist {jetzt}", "."),
        (f"it is already {now}", f"es ist schon {jetzt}", "."),
        (f"it's almost {now}", f"es ist fast {jetzt}", "."),
        (f"{train} leaves at {now}", f"{zug} fährt um {jetzt} ab", "."),
        (f"{train} arrives at {now}", f"{zug} kommt um {jetzt} an", "."),
        (f"{train} to {city['english']} leaves at {now}", f"{zug} nach {city['german']} fährt um {jetzt} ab", "."),
        (f"when does {train} to {city['english']} leave", f"wann fährt {zug} nach {city['german']} ab", "?"),
        (f"when does {train} from {city['english']} arrive", f"wann kommt {zug} aus {city['german']} an", "?"),
        (f"a ticket to {city['english']}, please", f"eine Fahrkarte nach {city['german']}, bitte", "."),
        (f"{shop.english} opens at {now}", f"{shop.german['nom']} öffnet um {jetzt}", "."),
        (f"{shop.english} closes at {now}", f"{shop.german['nom']} schließt um {jetzt}", "."),
        (f"{event.english} starts at {now}", f"{event.german['nom']} fängt um {jetzt} an", "."),
        (f"I get up at {now}", f"ich stehe um {jetzt} auf", "."),
        (f"I have an appointment at {now}", f"ich habe um {jetzt} einen Termin", "."),
        (f"can you come at {now}", f"kannst du um {jetzt} kommen", "?"),
        (f"can you pick me up at {now}", f"kannst du mich um {jetzt} abholen", "?"),
        (f"please wake me up at {now}", f"bitte weck mich um {jetzt}", "."),
        (f"we have to be there at {now}", f"wir müssen um {jetzt} da sein", "."),
        (f"see you {day['english']} at {now}", f"bis {day['german']} um {jetzt}", "!"),
    ]  # fmt: skip
    *pair, mark = rng.choice(possible)
    if (
        pair[0].startswith("see you")
        and day["german"][:3] in ("am ", "in ")
        or "nach dem" in pair[1]
        or "plane" in pair[0]
    ):
        return telling_time(rng)
    return finish(tuple(pair), mark)


def dated(rng: Random) -> Pair:
    """My birthday is on May third. Today is Tuesday."""
    number = rng.randint(1, 31)
    name, monat = month(rng.randint(1, 12))
    if number > 29 and name in ("February", "April", "June", "September", "November"):
        number -= 10
    first, erst = english_ordinal(number), german_ordinal(number)
    event = phrase(rng.choice(nouns_of("event")), "the")
    who = rng.choice([given_name, relative])(rng)
    index = rng.randrange(7)
    day, tag = DAYS[2 * index], DAYS[2 * index + 1]
    be, sein = be_and_sein(who, "past")
    possible = [
        (f"my birthday is on {name} {first}", f"mein Geburtstag ist am {erst}en {monat}", "."),
        (f"today is {name} {first}", f"heute ist der {erst}e {monat}", "."),
        (f"tomorrow is {name} {first}", f"morgen ist der {erst}e {monat}", "."),
        (f"today is {day}, {name} {first}", f"heute ist {tag}, der {erst}e {monat}", "."),
        (
            f"{event.english} is on {name} {first}",
            f"{event.german['nom']} ist am {erst}en {monat}",
            ".",
        ),
        (f"{event.english} is in {name}", f"{event.german['nom']} ist im {monat}", "."),
        (f"{event.english} is on {day}", f"{event.german['nom']} ist am {tag}", "."),
        (f"I was born on {name} {first}", f"ich bin am {erst}en {monat} geboren", "."),
        (f"{who.english} {be} here in {name}", f"{who.german['nom']} {sein} im {monat} hier", "."),
        (f"we are going on vacation in {name}", f"wir fahren im {monat} in Urlaub", "."),
        (f"it is often cold in {name}", f"im {monat} ist es oft kalt", "."),
        (f"today is {day}", f"heute ist {tag}", "."),
        (f"tomorrow is {day}", f"morgen ist {tag}", "."),
        (f"is today {day}", f"ist heute {tag}", "?"),
        (f"see you on {day}", f"bis {tag}", "!"),
        (f"I don't have time on {day}", f"ich habe am {tag} keine Zeit", "."),
        (f"are you free on {day}", f"hast du am {tag} Zeit", "?"),
    ]
    *pair, mark = rng.choice(possible)
    return finish(tuple(pair), mark)


def amounts(rng: Random) -> Pair:
    """The book costs twelve euros. My sister is thirty years old. I have three brothers."""
    number = rng.choice([rng.randint(2, 20), rng.randint(2, 99), 10 * rng.randint(2, 90)])
    english, german = english_number(number), german_number(number)
    if number < 100 and rng.random() < 0.25:
        english = german = str(number)
    age = rng.randint(2, 90)
    years, jahre = english_number(age), german_number(age)
    thing = phrase(
        rng.choice(nouns_of("clothing device gift instrument furniture")),
        rng.choice(["the", "this"]),
    )
    if thing.plural:
        return amounts(rng)
    who = rng.choice([any_pronoun, given_name, relative])(rng)
    be, sein = be_and_sein(who, "present")
    months = rng.choice(
        [("days", "Tagen"), ("weeks", "Wochen"), ("months", "Monaten"), ("years", "Jahren")]
    )
    few, wenige = english_number(rng.randint(2, 12)), ""
    wenige = german_number(
        dict(zip([english_number(i) for i in range(2, 13)], range(2, 13), strict=True))[few]
    )
    possible = [
        (f"{thing.english} costs {english} euros", f"{thing.german['nom']} kostet {german} Euro", "."),
        (f"{thing.english} only costs {english} euros", f"{thing.german['nom']} kostet nur {german} Euro", "."),
        (f"I paid {english} euros for {thing.english}", f"ich habe {german} Euro für {thing.german['acc']} bezahlt", "."),
        (f"that's {english} euros", f"das macht {german} Euro", "."),
        (f"{who.english} {be} {years} years old", f"{who.german['nom']} {sein} {jahre} Jahre alt", "."),
        (f"{who.english} {be} {years}", f"{who.german['nom']} {sein} {jahre}", "."),
        (f"I have been learning German for {few} {months[0]}", f"ich lerne seit {wenige} {months[1]} Deutsch", "."),
        (f"I have lived here for {few} {months[0]}", f"ich wohne seit {wenige} {months[1]} hier", "."),
        (f"I've been waiting for {few} minutes", f"ich warte seit {wenige} Minuten", "."),
        (f"{who.english} came {few} {months[0]} ago",
         f"{who.german['nom']} {finite('sein', who.german_person, 'present')} vor {wenige} {months[1]} gekommen", "."),
        (f"it takes {few} hours", f"es dauert {wenige} Stunden", "."),
        (f"the trip takes {few} hours", f"die Fahrt dauert {wenige} Stunden", "."),
        (f"{few} plus {english_number(2)} is", "", ""),
    ]  # fmt: skip
    *pair, mark = rng.choice(possible[:-1])
    return finish(tuple(pair), mark)


def weather(rng: Random) -> Pair:
    """It's raining in Berlin. Tomorrow it will be cold."""
    row = rng.choice(read_table("weather"))
    tense = rng.choice(["present", "present", "past", "future"])
    english, german_text = row[tense], row[f"german_{tense}"]
    place = rng.choice(read_table("countries"))
    where, wo = f"in {place['english']}", place["german_in"] or f"in {place['german']}"
    _, _, rest = subject_and_verb(german_text)
    kind = rng.random()
    if kind < 0.45:
        if tense == "present" and rng.random() < 0.4:
            english = english.replace("it is", "it's")
        at_end = rest.strip() and tense != "future" and "ge" not in rest
        told = f"{german_text} {wo}" if at_end else with_place(german_text, wo)
        return finish((f"{english} {where}", told))
    if tense == "present":
        front = rng.choice([("today", "heute"), ("here", "hier")])
        if rng.random() < 0.3:
            return finish((f"is {english.replace(' is ', ' ')}", inverted(german_text)), "?")
        return finish((f"{english} {front[0]}", with_place(german_text, front[1])))
    table = {"past": ("yesterday", "last week", "last weekend", "on Sunday", "the day before yesterday"),
             "future": ("tomorrow", "next week", "this weekend", "tonight", "on Sunday")}[tense]  # fmt: skip
    chosen = rng.choice(table)
    when = next(r for r in read_table("times") if r["english"] == chosen)["german"]
    if rng.random() < 0.5:
        return finish((f"{chosen}, {english}", f"{when} {inverted(german_text)}"))
    return finish((f"{english} {chosen}", with_place(german_text, when)))


def subject_and_verb(text: str) -> tuple[str, str, str]:
    """Subject, finite verb and rest of a weather sentence."""
    words = text.split()
    cut = 1 if words[0] == "es" else 2
    return " ".join(words[:cut]), words[cut], " ".join(words[cut + 1 :])


def with_place(text: str, where: str) -> str:
    """The sentence with a place or time behind its verb."""
    subject, verb, rest = subject_and_verb(text)
    return join(subject, verb, where, rest)


def inverted(text: str) -> str:
    """The sentence with its verb first."""
    subject, verb, rest = subject_and_verb(text)
    return join(verb, subject, rest)


TEMPLATES = {
    going: 9,
    being_somewhere: 7,
    doing_there: 4,
    position: 8,
    telling_time: 6,
    dated: 4,
    amounts: 6,
    weather: 4,
}
