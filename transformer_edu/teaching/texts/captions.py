"""Captions of pictures that were never taken, in English and German: to judge a translator by.

Used in notebooks/14_translation.ipynb and 15_looking_inside.ipynb. They were written for this
course, in the manner of the texts that the translator in the package learned from, and none of
them is one of those.
"""

_PAIRS = """\
A man in a red shirt is playing the guitar.
Ein Mann in einem roten Hemd spielt Gitarre.
Two dogs are running through the snow.
Zwei Hunde laufen durch den Schnee.
A little girl is eating ice cream.
Ein kleines Mädchen isst ein Eis.
A woman with sunglasses is sitting on a bench.
Eine Frau mit Sonnenbrille sitzt auf einer Bank.
Three children are playing in the water.
Drei Kinder spielen im Wasser.
A boy in a blue jacket jumps over a fence.
Ein Junge in einer blauen Jacke springt über einen Zaun.
An old man is reading a newspaper.
Ein alter Mann liest eine Zeitung.
A brown dog is catching a ball with its mouth.
Ein brauner Hund fängt einen Ball mit dem Maul.
Some people are standing in front of a building.
Einige Leute stehen vor einem Gebäude.
A young woman is riding her bicycle to work.
Eine junge Frau fährt mit dem Fahrrad zur Arbeit.
Two men are working on the roof of a house.
Zwei Männer arbeiten auf dem Dach eines Hauses.
A child is sleeping on a green sofa.
Ein Kind schläft auf einem grünen Sofa.
A black dog is swimming in the lake.
Ein schwarzer Hund schwimmt im See.
People are walking through a big city at night.
Menschen gehen nachts durch eine große Stadt.
A girl in a white dress is dancing on a stage.
Ein Mädchen in einem weißen Kleid tanzt auf einer Bühne.
A man is trying to catch a fish.
Ein Mann versucht, einen Fisch zu fangen.
A woman is holding a baby in her arms.
Eine Frau hält ein Baby in ihren Armen.
Several boys are playing football on a field.
Mehrere Jungen spielen auf einem Feld Fußball.
A man with a beard is cooking in a kitchen.
Ein Mann mit Bart kocht in einer Küche.
Two women are drinking coffee at a table.
Zwei Frauen trinken Kaffee an einem Tisch.
A boy is climbing a tree in the park.
Ein Junge klettert im Park auf einen Baum.
A small white dog is lying in the grass.
Ein kleiner weißer Hund liegt im Gras.
A worker with a helmet is standing next to a truck.
Ein Arbeiter mit Helm steht neben einem Lastwagen.
A woman in a yellow coat is waiting for the bus.
Eine Frau in einem gelben Mantel wartet auf den Bus.
"""
_LINES = _PAIRS.splitlines()
CAPTION_PAIRS = tuple(zip(_LINES[::2], _LINES[1::2], strict=True))  # English, German

_WORDS = """\
man Mann, men Männer, woman Frau, girl Mädchen, boy Junge, child Kind, baby Baby, dog Hund,
dogs Hunde, fish Fisch, shirt Hemd, jacket Jacke, coat Mantel, dress Kleid, helmet Helm,
sunglasses Sonnenbrille, beard Bart, guitar Gitarre, ball Ball, newspaper Zeitung, snow Schnee,
water Wasser, lake See, grass Gras, park Park, city Stadt, building Gebäude, house Hauses,
roof Dach, fence Zaun, kitchen Küche, table Tisch, bench Bank, sofa Sofa, stage Bühne,
truck Lastwagen, bus Bus, red roten, blue blauen, white weißen, old alter, young junge"""
# German words of the captions and the English ones that they stand for, as nobody would deny.
UNDISPUTED = {pair.split()[1]: pair.split()[0] for pair in _WORDS.split(",")}
