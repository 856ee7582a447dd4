"""The Transformer of "Attention Is All You Need", as a small library.

Users import from here: ``from transformer_edu import Transformer, fit, load_pretrained``. Each name
is loaded when it is asked for; ``__init__.pyi`` lists them with their modules. The map, one folder
for each question:

- ``model``: what is it? The paper's §3, in plain PyTorch.
- ``variants``: what came after it? Language models, published translation models.
- ``generation``: how does it write? Greedy, beam search, sampling (§6.1).
- ``data``: what does it read? Toy tasks, captions, everyday sentences, tokens, batches.
- ``training``: how does it learn? Loss, schedule, loop (§5).
- ``runs``: what ``python -m transformer_edu.training`` is made of, and a command that scores.
- ``checkup``: is it healthy? Probes for anybody's Transformer.
- ``pretrained``: a small translator, ready to use, and folders of published Marian models.

The course that teaches it is the package beside this one, ``transformer_course``.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
