from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sweep.report.labels import Box, Place, place

AREA = Box(0, 0, 400, 300)
SIZE = (20.0, 12.0)


def box(at: Place) -> Box:
    return Box(at.x - SIZE[0] / 2, at.y - SIZE[1] / 2, at.x + SIZE[0] / 2, at.y + SIZE[1] / 2)


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=12))
def test_labels_never_overlap_one_another_nor_leave_the_area(anchors: list[tuple[float, float]]) -> None:
    places = place(anchors, [SIZE] * len(anchors), AREA, gap=6)
    boxes = [box(at) for at in places if at is not None]
    assert all(each.inside(AREA) for each in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_crowd_of_nine_is_labelled_whole() -> None:
    assert None not in place([(200, 150)] * 9, [SIZE] * 9, AREA, gap=6)


def test_taken_space_and_lines_are_kept_free() -> None:
    line = [(float(x), 150.0 + (x - 200) / 2) for x in range(100, 300)]
    (found,) = place([(200, 150)], [SIZE], AREA, gap=6, taken=[Box(200, 150, 400, 300)], track=line)
    assert found is not None
    assert not any(box(found).left < x < box(found).right and box(found).bottom < y < box(found).top for x, y in line)
    assert not box(found).overlaps(Box(200, 150, 400, 300))


def test_no_room_no_label() -> None:
    assert place([(5, 5)], [SIZE], Box(0, 0, 10, 10), gap=6) == [None]
