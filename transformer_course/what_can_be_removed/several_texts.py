"""Five short texts on which lesson 17 repeats a measurement: a cost belongs to a text, too.

Used in notebooks/17_what_can_be_removed.ipynb.
"""

from transformer_course.texts.sentences import CAPTION_PAIRS, SAMPLE_PAIRS
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.data.everyday import everyday_pairs, held_out
from transformer_edu.generation.translator import Translator
from transformer_edu.training.machine.device import device_of

SIZE = 24  # pairs of a text


def several_texts(translator: Translator) -> dict[str, Batch]:
    """Correct pairs of English and German as batches on the model's device, by the text's name.

    Args:
        translator: Its tokenizer cuts the pairs. The last text has three captions in each.
    """
    threes = (CAPTION_PAIRS[first : first + 3] for first in range(0, len(CAPTION_PAIRS), 3))
    texts = {
        "captions": CAPTION_PAIRS,
        "scenes": SAMPLE_PAIRS[:SIZE],
        "by hand": [(source, accepted[0]) for source, accepted in held_out()[:SIZE]],
        "generated": everyday_pairs().test[:SIZE],
        "captions joined": [map(" ".join, zip(*three, strict=True)) for three in threes],
    }
    encode, model = translator.tokenizer.encode, translator.model
    return {
        name: make_batch([tuple(map(encode, pair)) for pair in pairs], model).to(device_of(model))
        for name, pairs in texts.items()
    }
