"""The friend's classes and loss, read from the cells of lesson 11."""

import torch
import torch.nn.functional as F
from torch import nn

from tools.notebooks import lesson_paths, read
from transformer_edu.model.special_ids import END_ID

(_LESSON,) = (path for path in lesson_paths() if path.name.startswith("11"))
_CELLS = {cell.id: cell.source for cell in read(_LESSON).cells}
ADD_AND_NORM, FEED_FORWARD = _CELLS["norm-class"], _CELLS["feed-class"]
_NAMES = {"torch": torch, "nn": nn, "F": F, "END_ID": END_ID}
for _source in (ADD_AND_NORM, FEED_FORWARD, _CELLS["loss-code"]):
    exec(_source, _NAMES)

FriendsAddAndNorm: type[nn.Module] = _NAMES["FriendsAddAndNorm"]
FriendsFeedForward: type[nn.Module] = _NAMES["FriendsFeedForward"]
friends_loss = _NAMES["friends_loss"]
