"""The friend's classes and loss, read from the cells of lesson 11."""

import torch
import torch.nn.functional as F
from torch import nn

from tools.notebooks import lesson_paths, read
from transformer_edu.model.special_ids import END_ID

(_LESSON,) = (path for path in lesson_paths() if path.name.startswith("11"))
_NAMES = {"torch": torch, "nn": nn, "F": F, "END_ID": END_ID}
for _cell in read(_LESSON).cells:
    if _cell.id in ("norm-class", "feed-class", "loss-code"):
        exec(_cell.source, _NAMES)

FriendsAddAndNorm: type[nn.Module] = _NAMES["FriendsAddAndNorm"]
FriendsFeedForward: type[nn.Module] = _NAMES["FriendsFeedForward"]
friends_loss = _NAMES["friends_loss"]
