"""A word and its translation are found in the map, piece by piece."""

import torch

from transformer_course.looking_inside.partners import hits_on, partner_cells, word_places
from transformer_edu.data.batches import make_batch

# "two dogs run ." and "zwei Hun de laufen ." in pieces; the last is the space that begins a word.
PIECES = [b" two", b" dogs", b" run", b".", b" zwei", b" Hun", b"de", b" laufen", b" dogs"]
TWO, DOGS, RUN, STOP, ZWEI, HUN, DE, LAUFEN = range(8)


def test_hits_count_the_rows_whose_largest_weight_is_on_a_cell():
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]).view(1, 1, 3, 3)
    cells = torch.tensor([[[True, False, False], [True, False, True], [False] * 3]])
    assert hits_on(weights, cells).tolist() == [0.5]


def test_every_word_has_the_places_of_its_pieces():
    words = word_places([ZWEI, HUN, DE, LAUFEN, STOP], PIECES)
    places = [range(1), range(1, 3), range(3, 4), range(4, 5)]
    assert words == [*zip(["zwei", "Hunde", "laufen", "."], places, strict=True)]


def test_a_word_meets_its_partner_where_it_is_predicted_and_one_row_later_where_it_is_read():
    pairs = [([TWO, DOGS, RUN, STOP], [ZWEI, HUN, DE, LAUFEN, STOP])]
    partners = {"Hunde": "dogs", "laufen": "run"}
    predicts = partner_cells(pairs, PIECES, partners)
    assert predicts.shape == (1, 6, 4)
    assert predicts[0].nonzero().tolist() == [[1, 1], [2, 1], [3, 2]]
    reads = partner_cells(pairs, PIECES, partners, reads=True)
    assert reads[0].nonzero().tolist() == [[2, 1], [3, 1], [4, 2]]


def test_the_row_that_predicts_is_the_one_whose_label_is_the_piece():
    pairs = [([TWO, DOGS, RUN, STOP], [ZWEI, HUN, DE, LAUFEN, STOP]), ([RUN], [LAUFEN, STOP])]
    batch = make_batch(pairs)
    cells = partner_cells(pairs, PIECES, {"laufen": "run"})
    row = cells.any(dim=-1)
    assert batch.label_ids[row].tolist() == [LAUFEN, LAUFEN]
    read = partner_cells(pairs, PIECES, {"laufen": "run"}, reads=True).any(dim=-1)
    assert batch.decoder_input_ids[read].tolist() == [LAUFEN, LAUFEN]


def test_a_partner_in_pieces_has_as_many_columns():
    pairs = [([ZWEI, HUN, DE, STOP], [DOGS, STOP])]
    cells = partner_cells(pairs, PIECES, {"dogs": "Hunde"})
    assert cells[0].nonzero().tolist() == [[0, 1], [0, 2]]


def test_a_partner_that_is_missing_or_stands_there_twice_is_left_out():
    pairs = [([TWO, DOGS, DOGS], [HUN, DE]), ([TWO], [HUN, DE]), ([DOGS], [HUN, DE])]
    cells = partner_cells(pairs, PIECES, {"Hunde": "dogs"})
    assert cells.any(dim=(1, 2)).tolist() == [False, False, True]
