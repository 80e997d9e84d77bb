// One control for all that happens in time: a step back, a step on, play, and a slider. No figure moves by itself.

/**
 * `last()` is the number of the last step, `told(step)` what it is called, `draw(step, isNext)` draws it: `isNext` says
 * that it follows the step before, so that what has moved may be seen moving. `name` is what a step is called ("slot").
 * Gives back the buttons and the slider, `go` and `stop`, and `listen`, by which a drawing hears the same keys.
 */
function controls({ name, pause, at, last, told, draw }) {
  let step = at, clock = 0;
  const button = (label, onclick, words) => make("button", { type: "button", "aria-label": label, title: label, onclick }, words);
  const back = button(`${name} back`, () => pressed(step - 1), "◀"), on = button(`${name} forward`, () => pressed(step + 1), "▶");
  const play = make("button", { type: "button", onclick: () => toggle() }, "Play");
  const place = slider(name, { min: 0, max: last(), value: step }, told, (to) => pressed(to));
  const keys = {
    ArrowLeft: () => pressed(step - 1), ArrowRight: () => pressed(step + 1),
    Home: () => pressed(0), End: () => pressed(last()), " ": () => toggle(),
  };

  function go(to) {
    const next = Math.max(0, Math.min(last(), to)), isNext = next === step + 1;
    step = next;
    draw(step, isNext);
    place.input.max = last();
    place.set(step);
    back.setAttribute("aria-disabled", String(step === 0));  // not disabled: it would lose the focus
    on.setAttribute("aria-disabled", String(step === last()));
  }
  function pressed(to) {
    stop();
    go(to);
  }
  function toggle() {
    if (clock) return stop();
    if (step >= last()) go(0);
    play.textContent = "Pause";
    clock = setInterval(() => (step >= last() ? stop() : go(step + 1)), pause());
    return undefined;
  }
  function stop() {
    clearInterval(clock);
    clock = 0;
    play.textContent = "Play";
  }
  function listen(drawing, label) {
    for (const [attribute, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": `${label}. Left and right: a ${name} back and forward. Space: play.` })) drawing.setAttribute(attribute, value);
    drawing.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  return { nodes: [back, on, play, place.node], go, stop, toggle, listen };
}

/**
 * A drawing with a clock, at `moment`: parts say by `data-from` and `data-to` when they last. What has not begun is pale,
 * what is under way has a rim; all is there when `moment` is null.
 */
function setClock(picture, moment) {
  for (const part of picture.querySelectorAll("[data-from]")) {
    const begun = moment === null || Number(part.dataset.from) < moment;
    part.classList.toggle("ls-ahead", !begun);
    part.classList.toggle("ls-now", begun && moment !== null && Number(part.dataset.to) >= moment);
  }
  for (const hand of picture.querySelectorAll(".ls-hand")) {
    hand.setAttribute("visibility", moment === null ? "hidden" : "visible");
    hand.style.transform = `translateX(${Number(hand.dataset.scale) * (moment ?? 0)}px)`;
  }
}
