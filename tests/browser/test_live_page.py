"""The live page: by mouse, touch and keyboard, light and dark, from a website and from a disk.

It shows what PyTorch computes, loads nothing but its own files, and runs nothing but its script.
"""

import json
import re
import shutil
from contextlib import ExitStack
from urllib.parse import quote, urlencode

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.conftest import violations
from tools.site import write_live_page
from transformer_course.live_translator.page.live_page import (
    main,
    page_files,
    translator_file,
)
from transformer_course.looking.recording import record_attention
from transformer_edu.data.everyday import everyday_pairs
from transformer_edu.pretrained import loading
from transformer_edu.pretrained.loading import load_pretrained

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
DEVICES = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark phone": {
        "viewport": PHONE,
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
}
CAR, BOOK = "Yesterday I bought a red car.", "The teacher gives the child a book."
HOSTILE = [
    "<img src=x onerror=\"document.title='taken'\">",
    "</textarea></script><script>document.title = 'taken'</script>",
    "\" onfocus=document.title='taken' autofocus x=\"",
    "javascript:alert(1)",
    "${document.title='taken'} __proto__ constructor",
    "</s><s><pad><unk> \u202eright to left\u202c",
]
STEPS = 10
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_live_page(folder / "live")
    return folder


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """The folder for a USB stick, as the command writes it."""
    folder = tmp_path_factory.mktemp("disk") / "live"
    assert main([str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


@pytest.fixture
def open_live(address, open_at):
    """Open the page at a place; nothing hostile may have changed its title in the end."""
    pages = []

    def open_page(place: str = "", at: str = f"{address}/live/", **options: object):
        others = (address, "blob:", "file:")
        page = open_at(f"{at}index.html#{place}", *others, **{"viewport": WIDE} | options)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        assert page.title() == "Watch a Transformer translate"


def place(**changes: object) -> str:
    return urlencode(changes)


def greedy(translator, text: str) -> str:
    return translator.translate(text, width=1)


def writes(page, german: str) -> None:
    """Wait until the page has written this, and shows how."""
    expect(page.locator("#spoken")).to_have_text(german)
    expect(page.locator("#now")).to_have_text(german)


def boxes(page):
    page.locator("#figure .box").first.wait_for()
    return page.locator("#figure .box")


def press(page, way: str, target) -> None:
    if way == "mouse":
        target.click()
    elif way == "touch":
        target.tap()
    else:
        target.focus()
        page.keyboard.press("Enter")


# ---- what it writes ------------------------------------------------------------------------------


def test_what_is_typed_is_translated_as_by_pytorch(open_live, translator):
    page = open_live()
    writes(page, greedy(translator, CAR))
    page.locator("#text").fill("")
    expect(page.locator("#inside")).to_be_hidden()
    page.locator("#text").press_sequentially("Two dogs run across the grass.")
    writes(page, greedy(translator, "Two dogs run across the grass."))
    tokens = page.locator(".german button").all_inner_texts()
    assert tokens[-1] == "end" and len(tokens) > 5


def test_a_sentence_chosen_before_the_first_translation_is_the_one_that_is_replaced(
    chromium, address, translator
):
    page, asked = chromium.new_page(), []
    page.route("**/translator.bin", lambda route: asked.append(route))
    page.goto(f"{address}/live/index.html")
    expect(page.locator("#text")).to_have_value(CAR)
    page.locator("#text").select_text()
    while not asked:
        page.wait_for_timeout(20)
    asked[0].continue_()
    writes(page, greedy(translator, CAR))
    page.keyboard.insert_text(BOOK)
    writes(page, greedy(translator, BOOK))
    expect(page.locator("#text")).to_have_value(BOOK)
    page.close()


def test_a_word_appears_while_the_others_are_still_written(open_live):
    page = open_live()
    boxes(page)
    page.evaluate("""() => {
        window.lengths = [];
        new MutationObserver(() => lengths.push(document.querySelectorAll(".german > *").length))
          .observe(document.querySelector(".german"), { childList: true });
        const text = document.querySelector("#text");
        text.value = "Two children are playing in the snow.";
        text.dispatchEvent(new Event("input"));
    }""")
    expect(page.locator("#spoken")).to_have_text(re.compile("^Zwei "))
    assert len(set(page.evaluate("lengths"))) > 3


def test_the_weights_of_the_table_are_pytorch_s(open_live, translator):
    page = open_live(place(text=CAR, box="decoder.cross_attention", layer=1, head=2, at=4))
    rows = page.locator("#panel tbody tr")
    rows.first.wait_for()
    source = torch.tensor([translator.tokenizer.encode(CAR)])
    written = translator.tokenizer.encode(greedy(translator, CAR))[:4]
    config = translator.model.config
    with record_attention(translator.model) as attention, torch.no_grad():
        translator.model(source, torch.tensor([[config.start_id, *written]]))
    weights = attention["decoder.layers.1.cross_attention"][0, 2, -1]
    told = [float(text.split(" ")[0]) for text in rows.locator("td:last-child").all_inner_texts()]
    assert len(told) == len(weights)
    for one, other in zip(told, weights.tolist(), strict=True):
        assert abs(one - 100 * other) < (0.51 if one >= 10 else 0.06)


def test_numbers_follow_from_each_other_cell_by_cell(open_live):
    page = open_live(place(text=CAR, box="source.embedding", word=2))
    told = page.locator("#panel .formula")
    told.wait_for()
    seen = set()
    for key in ("Home", "ArrowRight", "PageUp", "End", "ArrowLeft"):
        strip = page.get_by_role("slider", name="The token's row of the table")
        strip.focus()
        page.keyboard.press(key)
        text = told.inner_text().replace("−", "-")
        a, root, b, total = map(float, re.findall(r"-?\d+\.\d+", text))
        assert abs(a * root + b - total) < 0.01
        assert strip.get_attribute("aria-valuetext").endswith(f"{a:.3f}".replace("-", "−"))
        seen.add(text)
    assert len(seen) == 5
    strip.hover(position={"x": 3, "y": 10})
    assert strip.get_attribute("aria-valuenow") == "1"


def test_the_neighbors_of_a_word_in_the_table_are_told(open_live, translator):
    page = open_live(place(text=BOOK, box="source.embedding", word=1))
    (teacher,) = translator.tokenizer.encode(" teacher")[-1:]
    table = translator.model.source_embedding.table.weight.detach()
    cosines = torch.nn.functional.cosine_similarity(table, table[teacher, None], dim=1)
    best = translator.tokenizer.tokens(cosines.topk(9).indices[1:].tolist())
    told = page.locator("#panel .neighbors li span:first-child")
    expect(told).to_have_text([each.removeprefix("▁") for each in best])


# ---- every box, three ways -----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_every_box_opens_into_its_numbers(open_live, way):
    page = open_live(place(text=CAR), has_touch=way == "touch")
    titles = []
    for number in range(boxes(page).count()):
        box = boxes(page).nth(number)
        press(page, way, box)
        expect(box).to_have_attribute("aria-pressed", "true")
        title = box.locator("span").first.inner_text()
        expect(page.locator("#panel-title")).to_contain_text(title)
        assert page.locator("#panel canvas, #panel .pieces li, #panel .bars li").count() > 1
        titles.append(page.locator("#panel-title").inner_text())
    assert len(titles) == 17
    assert titles[0] == "English tokens" and titles[-1] == "Linear, softmax"


def test_one_can_walk_through_all_boxes_by_one_button(open_live):
    page = open_live(place(text=CAR, box="source.tokens"))
    boxes(page)
    step = page.get_by_role("button", name="Next box")
    count = 0
    step.focus()
    while step.is_enabled():
        page.keyboard.press("Enter")
        count += 1
        expect(boxes(page).nth(count)).to_have_attribute("aria-pressed", "true")
    assert count == 16


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_layers_heads_positions_and_keys_are_chosen(open_live, way):
    page = open_live(place(text=CAR, box="encoder.self_attention"), has_touch=way == "touch")
    boxes(page)
    press(page, way, page.get_by_role("group", name="Encoder layer").get_by_text("2"))
    press(page, way, page.locator(".heads button").nth(3))
    press(page, way, page.get_by_role("group", name="Position").get_by_text("bought"))
    press(page, way, page.locator("#panel tbody button").nth(5))
    expect(page.locator("#panel-title")).to_contain_text("layer 2")
    expect(page.locator("#panel h4").first).to_contain_text("bought")
    expect(page.locator("#panel h4").nth(1)).to_contain_text("car")
    page.wait_for_url(re.compile("box=encoder.self_attention&layer=1&head=3&word=2&key=5$"))
    press(page, way, page.locator(".german button").nth(0))
    expect(page.locator("#chosen")).to_contain_text("Gestern")
    press(page, way, page.locator(".english button").nth(4))
    expect(page.locator("#panel h4").first).to_contain_text("red")


# ---- what can be changed -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_the_sentence_goes_on_from_another_word(open_live, translator, way):
    page = open_live(place(text=BOOK, at=0, box="logits"), has_touch=way == "touch")
    press(page, way, page.locator(".bars.next button").filter(has_text=re.compile("^Die")))
    expect(page.locator("#spoken")).to_have_text(re.compile("^Die .+Buch"))
    expect(page.locator("#changes")).to_contain_text(greedy(translator, BOOK))
    press(page, way, page.get_by_role("button", name="Undo all"))
    writes(page, greedy(translator, BOOK))


def test_temperature_makes_the_likeliest_less_likely(open_live):
    page = open_live(place(text=BOOK, at=0, box="logits"))
    first = page.locator(".bars.next button").first
    first.wait_for()
    chance = lambda: float(re.search(r"([\d.]+) %", first.inner_text())[1])  # noqa: E731
    before = chance()
    slider = page.get_by_role("slider", name="Temperature")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert chance() < before - 10
    expect(slider).to_be_focused()
    page.get_by_role("button", name="Draw a sentence").click()
    page.wait_for_url(re.compile("temperature=2&seed="))
    expect(page.locator("#changes")).to_contain_text("drawn words")
    drawn = page.locator("#spoken").inner_text()
    page.reload()
    writes(page, drawn)


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_without_cross_attention_it_writes_what_pytorch_writes(open_live, translator, way):
    page = open_live(place(text=CAR), has_touch=way == "touch")
    boxes(page)
    press(page, way, page.locator("#switches summary"))
    press(page, way, page.get_by_role("button", name="all cross-attention"))
    with ExitStack() as stack:
        for layer in translator.model.decoder.layers:
            hook = layer.cross_attention.register_forward_hook(lambda m, given, output: output * 0)
            stack.callback(hook.remove)
        expected = greedy(translator, CAR)
    assert expected != greedy(translator, CAR)
    writes(page, expected)
    assert page.locator("#picture path").count() == 0  # nothing is attended to
    press(page, way, page.get_by_role("button", name="all cross-attention"))
    writes(page, greedy(translator, CAR))


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_switch_of_a_box_and_of_the_table_are_the_same(open_live, way):
    page = open_live(place(text=CAR, layer=0, head=1), has_touch=way == "touch")
    boxes(page)
    page.locator("#switches summary").click()
    head = page.get_by_role("button", name="decoder layer 1, cross-attention, head 2")
    switch = page.get_by_role("switch", name="Use head 2")
    if way == "keyboard":
        switch.focus()
        page.keyboard.press("Space")
    else:
        press(page, way, switch)
    expect(head).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#changes")).to_contain_text("1 part switched off")
    press(page, way, head)
    expect(page.get_by_role("switch", name="Use head 2")).to_be_checked()
    expect(page.locator("#changes")).to_be_hidden()


def test_every_switch_of_the_engine_is_offered(open_live):
    page = open_live()
    boxes(page)
    page.locator("#switches summary").click()
    page.get_by_role("button", name="mask", exact=True).wait_for()
    keys = page.locator("#switches button").evaluate_all("all => all.map(e => e.dataset.key)")
    names = {name for key in keys for name in key.removeprefix("off ").split(",")}
    config = load_pretrained().model.config
    attentions = 3 * config.num_layers  # the encoder's, and two of the decoder
    sub_layers = attentions + 2 * config.num_layers
    assert len(names) == 3 + 2 * sub_layers + attentions * config.num_heads


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_the_beam_is_a_tree_from_which_one_can_go_on(open_live, translator, way):
    text = "I like my new bike."
    page = open_live(place(text=text), has_touch=way == "touch")
    boxes(page)
    press(page, way, page.locator("#beam summary"))
    press(page, way, page.get_by_role("group", name="Beam width").get_by_text("5"))
    expect(page.locator(".tree button[data-key='node 0 4']")).to_be_visible()
    best = translator.translate(text, width=5, alpha=0.6)
    expect(page.locator("#beam > div > p").last).to_contain_text(best)
    line = page.locator(".tree button.best b").all_inner_texts()
    assert line[-1] == "end" and "".join(line[:-1]) == best.replace(" ", "")
    other = page.locator(".tree button[data-key^='node 0']").filter(has_text=re.compile("^Ich"))
    press(page, way, other)
    expect(page.locator("#spoken")).to_have_text(re.compile("^Ich "))


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_vector_of_another_sentence_takes_the_place_of_one(open_live, translator, way):
    other = "Yesterday I bought a blue car."
    page = open_live(place(text=CAR), has_touch=way == "touch")
    boxes(page)
    press(page, way, page.locator("#patch summary"))
    field = page.get_by_role("textbox", name="The other sentence")
    field.fill(other)
    field.press("Tab")
    chosen = page.get_by_role("group", name="Take the vector of").get_by_text("blue")
    press(page, way, chosen)
    press(page, way, page.get_by_role("group", name="Put it in the place of").get_by_text("red"))
    tokenizer, norm = translator.tokenizer, translator.model.encoder.final_norm
    with torch.no_grad():
        vector = translator.model.encode(torch.tensor([tokenizer.encode(other)]))[0, 4]

    def replace(module, given, output):
        return torch.cat([output[:, :4], vector.expand(len(output), 1, -1), output[:, 5:]], dim=1)

    hook = norm.register_forward_hook(replace)
    expected = greedy(translator, CAR)
    hook.remove()
    assert expected != greedy(translator, CAR)
    writes(page, expected)
    press(page, way, page.get_by_role("button", name="Take it out"))
    writes(page, greedy(translator, CAR))


def test_the_other_sentence_is_not_drawn_anew_while_it_is_typed(open_live):
    page = open_live(place(text=CAR))
    boxes(page)
    page.locator("#patch summary").click()
    field = page.get_by_role("textbox", name="The other sentence")
    field.fill("Two blue")
    page.evaluate("location.hash = '#at=1'")  # as what was asked for before, and comes now
    expect(page.locator("#chosen")).to_contain_text("habe")
    page.wait_for_timeout(500)
    field.press_sequentially(" birds")
    field.press("Enter")
    taken = page.get_by_role("group", name="Take the vector of").get_by_text("birds")
    expect(taken).to_be_visible()
    expect(field).to_have_value("Two blue birds")


# ---- the tour, and addresses ---------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_the_tour_asks_ten_questions(open_live, way):
    page = open_live(has_touch=way == "touch")
    boxes(page)
    press(page, way, page.get_by_role("button", name="Guided tour"))
    tour, titles = page.locator("#tour"), set()
    for step in range(STEPS):
        expect(tour.locator(".count")).to_have_text(f"{step + 1} of {STEPS}")
        expect(tour.locator("h2")).to_be_focused()
        titles.add(tour.locator("h2").inner_text())
        told = []
        for number in range(tour.locator(".choice button").count()):
            press(page, way, tour.locator(".choice button").nth(number))
            told.append(tour.get_by_role("status").inner_text().split(".")[0])
        assert sorted(told) == ["Not quite", "Not quite", "Yes"]
        if step + 1 < STEPS:
            press(page, way, tour.get_by_role("button", name="Next", exact=True))
    assert len(titles) == STEPS
    page.keyboard.press("Escape")
    expect(tour).to_be_hidden()
    expect(page.get_by_role("button", name="Guided tour")).to_be_focused()


def test_what_the_tour_says_is_what_the_translator_does(open_live):
    """Of the weights that are shipped: who changes them reads the tour again."""
    page = open_live(place(tour=0))

    def on(step: int, german: str) -> None:
        page.goto(page.url.split("#")[0] + "#")
        page.reload()
        page.get_by_role("button", name="Guided tour").click()
        for _ in range(step):
            page.locator("#tour").get_by_role("button", name="Next", exact=True).click()
        expect(page.locator("#spoken")).to_have_text(re.compile(german))

    heaviest = page.locator("#panel tbody tr.chosen th")
    on(0, "gekauft")
    expect(page.locator(".english .attended")).to_have_text(["bought"])
    on(1, "^Wenn")
    expect(page.locator(".pieces b").nth(2)).to_have_text("ver")
    assert page.locator(".pieces b").all_inner_texts()[:3] == ["▁When", "e", "ver"]
    on(2, "^Der Mann")
    same = page.get_by_role("slider", name="The token's row").get_attribute("aria-valuetext")
    total = page.get_by_role("slider", name="= what").get_attribute("aria-valuetext")
    page.get_by_role("group", name="Position").get_by_text("the", exact=True).nth(1).click()
    row = page.get_by_role("slider", name="The token's row")
    assert row.get_attribute("aria-valuetext") == same
    expect(page.get_by_role("slider", name="= what")).not_to_have_attribute("aria-valuetext", total)
    on(3, "^Das Buch gibt dem Kind einen Lehrer")
    on(4, "Fluss")
    expect(heaviest).to_have_text("river")
    on(5, "Fluss")
    expect(heaviest).to_have_text(".")  # after "old"
    page.locator(".heads button").first.click()
    expect(heaviest).to_have_text("is")  # before it
    on(6, "gekauft")
    expect(heaviest).to_have_text("habe")
    on(7, "^Die Person")
    same = page.locator("#spoken").inner_text()
    page.locator("#text").fill("The small cat drinks warm milk.")
    expect(page.locator(".english")).to_contain_text("milk")
    writes(page, same)
    on(8, "^Autrad")
    page.get_by_role("switch", name="Add x").click()
    writes(page, "Gestern habe ich ein rotes Auto gekauft.")
    on(9, "^Der Lehrer")
    page.locator(".bars.next button").filter(has_text=re.compile("^Die")).click()
    expect(page.locator("#spoken")).to_have_text(re.compile("^Die Lehrerin"))


def test_an_address_of_a_step_of_the_tour_shows_what_the_step_tells_of(open_live):
    page = open_live(place(text=BOOK, box="logits", at=0, tour=9))
    boxes(page)
    expect(page.locator("#panel .bars.next button").first).to_be_in_viewport()
    expect(page.locator("#tour .count")).to_have_text(f"{STEPS} of {STEPS}")


def test_an_address_keeps_sentence_and_place(open_live):
    page = open_live(place(text=BOOK, box="encoder.feed_forward", layer=0, word=4))
    boxes(page)
    page.get_by_role("switch", name="Use this feed-forward network").click()
    page.locator(".german button").nth(1).click()
    expect(page.locator("#changes")).to_be_visible()
    expect(page.locator("#chosen")).to_contain_text("How it chose")
    page.wait_for_url(re.compile("at=1&.*off=encoder"))
    kept = [page.locator(each).inner_text() for each in ("#spoken", "#chosen", "#panel-title")]
    again = open_live(page.url.split("#")[1])
    writes(again, kept[0])
    assert [again.locator(e).inner_text() for e in ("#spoken", "#chosen", "#panel-title")] == kept
    assert again.locator("#text").input_value() == BOOK
    again.evaluate(f"location.hash = '#text={quote(CAR)}'")
    writes(again, "Gestern habe ich ein rotes Auto gekauft.")


@pytest.mark.parametrize(
    "wrong",
    [
        "text=&box=nothing&layer=99&head=99&at=99&word=99&row=99&key=99",
        f"text={quote(CAR)}&box=__proto__&layer=-1&head=x&off=everything+constructor&width=99",
        f"text={quote(CAR)}&patch.text=x&patch.name=logits&patch.from=77&patch.to=88&tour=50",
        f"text={quote(CAR)}&temperature=0&layer=99&head=99&at=99&word=99&row=99&key=99&seed=1e9",
        "%E0%A4%A&&&=",
    ],
)
def test_an_address_that_cannot_be_shows_a_page_all_the_same(open_live, wrong):
    page = open_live(wrong)
    expect(page.locator("#loading")).to_be_hidden()
    expect(page.locator("#message")).to_be_empty()
    page.locator("#text").fill(BOOK)
    expect(page.locator(".german")).to_contain_text("Buch")


# ---- what it must not do -------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_runs_nothing(open_live, text):
    page = open_live(place(text=text, **{"patch.text": text}))
    expect(page.locator(".english button").first).to_be_visible()
    expect(page.locator("#text")).to_have_value(text)
    for number in (0, 2, 11, 16):
        boxes(page).nth(number).click()
    for name in ("switches", "beam", "patch"):
        page.locator(f"#{name} summary").click()
    expect(page.locator(".tree button").first).to_be_visible()
    expect(page.get_by_role("textbox", name="The other sentence")).to_have_value(text)
    assert page.locator("main img, main script, main iframe, [onfocus], [onerror]").count() == 0


def test_the_folder_opens_from_a_disk(open_live, disk, translator):
    page = open_live(place(text=BOOK), at=f"{disk.as_uri()}/")
    writes(page, greedy(translator, BOOK))
    page.locator("#text").fill(CAR)
    writes(page, greedy(translator, CAR))
    page.locator(".german button").first.click()
    page.wait_for_url(re.compile("#at=0"))
    assert page.locator("a[href^='http'], a[href^='..']").count() == 0


def held(page) -> float:
    """MiB that the page and its worker hold when all garbage is collected."""
    session, waiting, targets = page.context.new_cdp_session(page), {}, []
    session.on("Target.attachedToTarget", lambda event: targets.append(event["sessionId"]))

    def hear(event: dict) -> None:
        answer = json.loads(event["message"])
        waiting[answer.get("id")] = answer

    def of_worker(method: str) -> dict:
        number = len(waiting)
        message = json.dumps({"id": number, "method": method})
        session.send("Target.sendMessageToTarget", {"sessionId": targets[0], "message": message})
        while number not in waiting:
            page.wait_for_timeout(10)
        return waiting[number]["result"]

    session.on("Target.receivedMessageFromTarget", hear)
    session.send(
        "Target.setAutoAttach",
        {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False},
    )
    while not targets:
        page.wait_for_timeout(10)
    total = 0
    for send in (session.send, of_worker):
        send("HeapProfiler.collectGarbage")
        send("HeapProfiler.collectGarbage")
        usage = send("Runtime.getHeapUsage")
        total += sum(size for kind, size in usage.items() if kind != "totalSize")
    session.detach()
    return total / 2**20


@pytest.mark.parametrize("of", ["site", "disk"])
def test_no_earlier_sentence_is_kept_in_memory(open_live, request, translator, of):
    folder = request.getfixturevalue(of)
    page = open_live(**{"at": f"{folder.as_uri()}/"} if of == "disk" else {})
    texts = [text for text, _ in everyday_pairs().test[:20]]
    sizes = []
    for number, text in enumerate(texts):
        page.locator("#text").fill(text)
        writes(page, greedy(translator, text))
        if number in (4, len(texts) - 1):
            sizes.append(held(page))
    # All values of one sentence are about 2 MiB, the weights 15; as text, they would be 10 more.
    assert sizes[1] < sizes[0] + 5 and sizes[1] < 30


def test_the_command_writes_a_new_folder_and_into_no_other(tmp_path, capsys):
    damaged, own, page = (tmp_path / name for name in ("translator", "own", "page"))
    damaged.mkdir(), own.mkdir()
    for name in ("tokenizer.json", "model.safetensors"):
        (damaged / name).write_text("{}")
    (damaged / "README.md").write_text("## Data\nTerms\n")
    (own / "page.css").write_text("mine")
    assert [main([str(to)]) for to in (page, page, own)] == [0, 1, 1]
    assert (own / "page.css").read_text() == "mine" and len(list(own.iterdir())) == 1
    said = "".join(f"error: the folder must be new or empty, got {to}\n" for to in (page, own))
    assert capsys.readouterr().err == said
    wrong = ["", "a\0b", str(own / "page.css"), "/dev/full"]
    assert [main([to]) for to in wrong] == [1] * 4
    others = (damaged, own, tmp_path / "none", "")
    assert [main([str(tmp_path / "new"), str(other)]) for other in others] == [1] * 4
    assert capsys.readouterr().err.count("\n") == 8 and not (tmp_path / "new").exists()
    without_card = shutil.copytree(loading.FOLDER, tmp_path / "trained")
    (without_card / loading.CARD).unlink()
    assert main([str(tmp_path / "new"), str(without_card)]) == 1
    assert "must be an exported one, with a card that" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])


def test_the_policy_is_strict(site, disk):
    for folder in (site / "live", disk):
        text = (folder / "index.html").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert not re.search(r"<script(?![^>]* src=)|<style|style=|\son\w+=", text)


def test_the_page_is_small(site, disk):
    own = sum(len(text.encode()) for text in page_files(lessons="../notebooks/").values())
    sizes = {path.name: path.stat().st_size for path in (site / "live").iterdir()}
    packed = sizes.pop("transformer-live.zip")
    assert own < 400_000 and sum(sizes.values()) < 9_000_000
    assert sum(path.stat().st_size for path in disk.iterdir()) < 12_000_000 and packed < 9_000_000


def test_the_terms_stand_beside_the_weights(open_live):
    page = open_live()
    boxes(page)
    expect(page.locator("#terms")).to_contain_text("purposes that are not commercial")
    expect(page.get_by_role("link", name="Take this page along")).to_be_visible()


def test_other_weights_are_put_in_by_one_file(open_live, translator, tmp_path):
    page = open_live(place(text=CAR))
    boxes(page)
    content = translator_file()
    start = int.from_bytes(content[:8], "little") + 8
    other = content[8:start].replace(b"not commercial", b"whatever pleas")
    (tmp_path / "other.bin").write_bytes(content[:8] + other + content[start:])
    page.locator("#other").set_input_files(tmp_path / "other.bin")
    expect(page.locator("#terms")).to_contain_text("whatever pleas")
    writes(page, greedy(translator, CAR))
    (tmp_path / "broken.bin").write_bytes(b"no translator")
    page.locator("#other").set_input_files(tmp_path / "broken.bin")
    expect(page.locator("#message")).to_contain_text("could not be loaded")
    page.locator("#text").fill(BOOK)
    writes(page, greedy(translator, BOOK))


def test_a_translator_that_does_not_come_is_told(chromium, address):
    page = chromium.new_page()
    page.route("**/translator.bin", lambda route: route.abort())
    page.goto(f"{address}/live/index.html")
    expect(page.locator("#message")).to_contain_text("could not be loaded")
    expect(page.locator("#loading")).to_be_hidden()
    page.close()


@pytest.mark.parametrize("kept", [3, 4000, 5_000_000, 5_000_001])
def test_an_incomplete_file_is_told_on_a_disk(chromium, disk, tmp_path, kept):
    shutil.copytree(disk, tmp_path / "live")
    page = chromium.new_page()
    whole = (disk / "index.html").read_text()
    start = re.search('<template id="translator">', whole).end()
    (tmp_path / "live" / "index.html").write_text(whole[: start + kept])
    page.goto(f"{(tmp_path / 'live').as_uri()}/index.html")
    expect(page.locator("#message")).to_contain_text("incomplete")
    (tmp_path / "cut.bin").write_bytes(translator_file()[:kept])
    page.goto(f"{disk.as_uri()}/index.html")
    boxes(page)
    page.locator("#other").set_input_files(tmp_path / "cut.bin")
    expect(page.locator("#message")).to_contain_text("incomplete")
    page.close()


# ---- for everybody -------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_axe_finds_no_violation_in_any_view(open_live, device):
    page = open_live(place(text=CAR), reduced_motion="reduce", **device)
    for number in range(boxes(page).count()):
        boxes(page).nth(number).click()
        assert violations(page) == [], number
    for name in ("switches", "beam", "patch"):
        page.locator(f"#{name} summary").click()
        page.locator(f"#{name} button").first.wait_for()
    page.get_by_role("button", name="encoder layer 1, self-attention, head 1").click()
    expect(page.locator("#changes")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Guided tour").click()
    page.locator("#tour .choice button").first.click()
    assert violations(page) == []


@pytest.mark.parametrize("box", ["source.tokens", "decoder.cross_attention", "logits"])
def test_a_phone_needs_no_horizontal_scroll_bar(open_live, box):
    device = DEVICES["dark phone"]
    page = open_live(place(text=BOOK, box=box, tour=9), **device)
    boxes(page)
    for name in ("switches", "beam", "patch"):
        page.locator(f"#{name} summary").click()
        page.locator(f"#{name} button").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = page.locator("button:visible").evaluate_all("""all => all.filter(e => {
        const { width, height } = e.getBoundingClientRect();
        return width < 24 || height < 24;
    }).map(e => e.outerHTML)""")
    assert small == []


def test_the_first_screen_of_a_phone_has_both_sentences(open_live):
    page = open_live(place(text=CAR), **DEVICES["dark phone"])
    boxes(page)
    for target in ("#text", ".english button >> nth=-1", ".german button >> nth=-1"):
        place_of = page.locator(target).bounding_box()
        assert place_of["y"] + place_of["height"] <= PHONE["height"]


def test_less_motion_is_no_motion(open_live):
    page = open_live(place(text=CAR), reduced_motion="reduce")
    boxes(page)
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
