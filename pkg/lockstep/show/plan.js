// Plans of a training run, computed ahead: columns of numbers for each job. Sliders choose a job and a plan of it; the
// plans, all of them, are points that can be pointed at, clicked, and stepped through.

const FROM = 132, TO = 526, BAR = 18;  // bars, on a drawing 540 wide
const [JOBS, NAMES] = [["model", "cluster", "GPUs", "precision"], { micro_batch: "micro-batch" }];

/** What the columns of a job say of plan i. */
function planOf(state, job, i) {
  const [times, kinds] = [Object.keys(state.times), Object.keys(state.kinds)], time = job.time[i];
  const parts = job.parts.map((column) => column[i]);
  const held = job.kinds.map((column) => column[i] * state.gb);
  const values = job.axes.map((column) => column[i]);
  return {
    values, time, vp: job.vp[i], fits: job.fits[i] === 1, low: time * job.low, high: time * job.high, mfu: job.ideal / time,
    seconds: Object.fromEntries([Math.max(0, time - parts.reduce((a, b) => a + b, 0)), ...parts].map((t, n) => [times[n], t])),
    held: Object.fromEntries(held.map((n, k) => [kinds[k], n])), memory: job.memory[i] * state.gb,
  };
}

const gigabytes = (n) => Math.round(n / 1e9).toLocaleString("en");
const percent = (share) => `${Math.round(100 * share)} %`;

function tooLarge(plan, capacity) {
  const [most, n] = Object.entries(plan.held).reduce((a, b) => (b[1] > a[1] ? b : a));
  return `It needs ${gigabytes(plan.memory)} GB on a GPU that has ${gigabytes(capacity)} GB; ${gigabytes(n)} GB of it are ${most}.`;
}

function legend(values, colours, told) {
  const shown = Object.entries(values).filter(([, value]) => value > 0);
  return make("div", { class: "ls-legend" }, ...shown.map(([name, value]) => make("span", {}, make("i", { style: `background:${colours[name]}` }), `${name} ${told(value)}`)));
}

/** One stacked bar from zero. */
function bar(y, name, told, values, colours, whole) {
  let x = FROM, drawn = `<text class="ls-ink" x="14" y="${y + 13}">${name} ${told}</text>`;
  for (const [part, value] of Object.entries(values)) {
    const width = Math.max(0, ((TO - FROM) * value) / whole);
    drawn += `<rect class="ls-swatch" x="${x}" y="${y}" width="${width}" height="${BAR}" fill="${colours[part]}"/>`;
    x += width;
  }
  return drawn;
}

const drawing = (height, name, body) =>
  `<svg viewBox="0 -8 540 ${height + 8}" role="img" aria-label="${name}" font-size="12" font-family="system-ui, sans-serif">${body}</svg>`;

/** The chosen plan's seconds above the best one's; likewise their bytes. `plan` is null where there is none. */
function timeBars(state, plan, best, named) {
  const whole = 1.02 * Math.max(plan?.high ?? 0, best.high), at = (t) => FROM + ((TO - FROM) * t) / whole;
  let body = `<text class="ls-ink" x="14" y="13" font-weight="600">Time of a step</text>`;
  body += plan ? bar(22, "this", seconds(plan.time), plan.seconds, state.times, whole) : `<text class="ls-ink" x="14" y="35">no such plan</text>`;
  if (plan) {
    const way = `M${at(plan.low)},26v10M${at(plan.low)},31H${at(plan.high)}M${at(plan.high)},26v10`;
    body += `<path class="ls-halo" d="${way}" stroke-width="4"/><path class="ls-line" d="${way}" fill="none" stroke-width="1.6"/>`;
  }
  return drawing(66, "Time of a step", body + bar(45, named, seconds(best.time), best.seconds, state.times, whole));
}

function memoryBars(state, plan, best, named, capacity) {
  const whole = 1.02 * Math.max(plan?.memory ?? 0, best.memory, capacity), x = FROM + ((TO - FROM) * capacity) / whole;
  let body = `<text class="ls-ink" x="14" y="13" font-weight="600">Memory</text>`;
  if (plan) body += bar(22, "this", bytes(plan.memory), plan.held, state.kinds, whole);
  body += bar(45, named, bytes(best.memory), best.held, state.kinds, whole);
  const label = x > 260 ? `x="${x}" text-anchor="end"` : `x="${x}"`;
  body += `<line x1="${x}" x2="${x}" y1="18" y2="66" stroke="${state.points[1]}" stroke-width="2"/>`;
  return drawing(68, "Memory of the fullest GPU", `${body}<text class="ls-ink" ${label} y="13">capacity ${bytes(capacity)}</text>`);
}

const share = ({ low, high }, value) => Math.log(value / low) / Math.log(high / low);

/** Where each plan is: x by its memory, y by its time. */
function placed(state, job) {
  const [left, right, top, bottom] = state.area;
  return job.time.map((time, i) => {
    return [left + (right - left) * share(job.x, job.memory[i] * state.gb), bottom - (bottom - top) * share(job.y, time)];
  });
}

function scatter(state, job, points, named) {
  const [left, right, top, bottom] = state.area, [, bad] = state.points;
  const line = left + (right - left) * share(job.x, job.capacity * state.gb);
  let body = `<text class="ls-ink" x="14" y="10" font-weight="600">${points.length.toLocaleString("en")} plans: time of a step, by memory of the fullest GPU</text>`;
  body += `<rect class="ls-lane" x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" rx="2"/>`;
  body += `<line x1="${line}" x2="${line}" y1="${top - 6}" y2="${bottom}" stroke="${bad}" stroke-width="2"/>`;
  body += `<text class="ls-ink" x="${line - 6}" y="${top - 6}" text-anchor="end">fits</text>`;
  if (line < right - 50) body += `<text class="ls-ink" x="${line + 6}" y="${top - 6}">does not</text>`;
  for (const [value, told] of job.x.ticks) body += `<text class="ls-faint" x="${left + (right - left) * share(job.x, value)}" y="${bottom + 17}" text-anchor="middle">${told}</text>`;
  for (const [value, told] of job.y.ticks) body += `<text class="ls-faint" x="${left - 7}" y="${bottom - (bottom - top) * share(job.y, value) + 4}" text-anchor="end">${told}</text>`;
  state.marks.forEach(({ d, width }, bad) => {
    const drawn = points.filter((_, i) => job.fits[i] !== bad).map(([x, y]) => `M${x.toFixed(1)},${y.toFixed(1)}${d}`);
    body += `<path d="${drawn.join("")}" fill="none" stroke="${state.points[bad]}" stroke-width="${width}" stroke-linecap="round"/>`;
  });
  const [x, y] = points[job.best];
  body += `<path class="ls-line" d="M${x - 13},${y}h6M${x + 7},${y}h6M${x},${y - 13}v6M${x},${y + 7}v6" stroke-width="2"/>`;
  body += `<circle class="ls-line ls-here" r="8" fill="none" stroke-width="2"/>`;
  body += `<text class="ls-faint" x="${left}" y="${bottom + 36}">Ring: this plan. Cross: ${named}. Both scales are logarithmic.</text>`;
  return drawing(bottom + 44, "Plans by memory and time", body);
}

function render({ model, el }) {
  const names = ["label", "choices", "at", "jobs", "axes", "looked_at", "gb", "recompute", "times", "kinds", "points", "marks", "area"];
  const state = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const root = figure(el, state.label), at = [...state.at];
  let job, points = [], here = -1, stops = [], wanted = [], order = [], index = new Map();

  const caption = make("div", { class: "ls-caption" }), about = make("div", { class: "ls-hint" });
  const verdict = make("div", { class: "ls-said", role: "status" }), command = make("pre", { class: "ls-code", style: "white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal" });
  const bars = make("div", { class: "ls-picture" });
  const field = make("div", { class: "ls-picture", tabindex: "0", role: "group", "aria-label": "All plans; left and right go to the next faster and slower one" });
  const readout = make("div", { class: "ls-readout" });
  const best = make("button", { type: "button", onclick: () => show(job.best) }, "Best plan");
  const number = (axis) => state.axes.indexOf(axis);
  const spelled = (axis, value) => (axis === "recompute" ? state.recompute[value] : value.toLocaleString("en"));
  const plan = (i) => planOf(state, job, i);

  const chosen = JOBS.map((name, n) => slider(name, { min: 0, max: state.choices[n].length - 1, value: at[n] }, (stop) => state.choices[n][stop].toLocaleString("en"), (stop) => { at[n] = stop; open(); }));
  const axes = state.axes.map((axis, n) => slider(NAMES[axis] ?? axis, { min: 0, max: 0, value: 0 }, (stop) => (stops[n] ? spelled(axis, stops[n][stop]) : ""), (stop) => move(n, stops[n][stop])));

  /** Another job: its best plan is shown. */
  function open() {
    job = state.jobs[at.reduce((sum, stop, n) => sum * state.choices[n].length + stop, 0)];
    const planned = Boolean(job.time);
    for (const part of [bars, field, command, readout]) part.hidden = !planned;
    for (const { input } of axes) input.disabled = !planned;
    best.disabled = !planned;
    if (!planned) return missing();
    stops = state.axes.map((axis, n) => [...new Set([...(state.looked_at[axis] ?? []), ...job.axes[n]])].sort((a, b) => a - b));
    axes.forEach(({ input }, n) => { input.max = stops[n].length - 1; });
    index = new Map(job.time.map((_, i) => [plan(i).values.join(), i]));
    order = job.time.map((_, i) => i).sort((a, b) => job.time[a] - job.time[b]);
    points = placed(state, job);
    caption.textContent = job.title;
    const fits = job.fits[job.best];
    best.textContent = fits ? "Best plan" : "Leanest plan";
    about.textContent = `${job.batch.toLocaleString("en")} sequences of ${job.seq.toLocaleString("en")} tokens a step; ` +
      (fits ? `the best of ${job.searched.toLocaleString("en")} plans is marked; ${points.length.toLocaleString("en")} are drawn.` : `none of ${job.searched.toLocaleString("en")} plans fits; the leanest is marked.`);
    field.innerHTML = scatter(state, job, points, fits ? "the best plan" : "the leanest plan");
    show(job.best);
  }

  function missing() {
    caption.textContent = job.title;
    about.textContent = "";
    verdict.className = "ls-message ls-refused";
    verdict.textContent = job.refused || "This job was not computed ahead. Ask for it:";
    command.hidden = Boolean(job.refused);
    command.textContent = job.command;
  }

  /** A slider asks for another value of an axis. dp follows from the others; if dp itself moves, the others follow. */
  function move(n, value) {
    const now = [...wanted];
    now[n] = value;
    if (state.axes[n] === "dp") {
      const others = order.filter((i) => job.axes[n][i] === value);
      const kept = (i) => job.axes.reduce((sum, column, k) => sum + (column[i] === wanted[k]), 0);
      return show(others.reduce((a, b) => (kept(b) > kept(a) ? b : a)));
    }
    const [dp, ...parts] = ["dp", "tp", "pp", "cp"].map(number);
    now[dp] = Math.max(1, Math.floor(job.gpus / parts.reduce((product, k) => product * now[k], 1)));
    const found = index.get(now.join());
    if (found !== undefined) return show(found);
    wanted = now;
    here = -1;
    tell();
  }

  function show(i) {
    here = i;
    wanted = plan(i).values;
    tell();
  }

  const fix = () => state.axes.map((axis, n) => (axis === "dp" ? "" : `${axis}=${axis === "recompute" ? state.recompute[wanted[n]] : wanted[n]}`)).concat(here < 0 ? [] : `vp=${job.vp[here]}`).filter(Boolean).join(",");
  const broken = () => job.rules.find(([condition]) => Object.entries(condition).every(([axis, value]) => wanted[number(axis)] === value))?.[1];

  function tell() {
    const mine = here < 0 ? null : plan(here), top = plan(job.best), named = job.fits[job.best] ? "best" : "leanest", rule = mine ? "" : broken();
    axes.forEach(({ set }, n) => set(Math.max(0, stops[n].indexOf(wanted[n]))));
    axes[number("dp")].node.querySelector("output").textContent = wanted[number("dp")].toLocaleString("en");
    bars.innerHTML = timeBars(state, mine, top, named) + memoryBars(state, mine, top, named, job.capacity * state.gb);
    if (mine) {
      bars.children[0].after(legend(mine.seconds, state.times, seconds));
      bars.append(legend(mine.held, state.kinds, bytes));
    }
    field.querySelector(".ls-here").setAttribute("visibility", mine ? "visible" : "hidden");
    if (mine) ["cx", "cy"].forEach((name, k) => field.querySelector(".ls-here").setAttribute(name, points[here][k]));
    verdict.className = mine?.fits ? "ls-said" : "ls-message ls-refused";
    verdict.textContent = mine ? said(mine) : rule ? `Not a plan: ${rule}` : "This plan was not computed ahead. Ask for it:";
    command.hidden = Boolean(rule);
    command.textContent = `${job.command} --fix ${fix()}`;
    readout.textContent = "Point at a plan to read it, click to take it; left and right go from plan to plan.";
  }

  function said(mine) {
    const exposed = ["dp", "tp", "pp", "cp", "ep"].reduce((sum, axis) => sum + mine.seconds[axis], 0);
    const step = `${seconds(mine.time)}, likely ${seconds(mine.low)} to ${seconds(mine.high)}: MFU ${percent(mine.mfu)}, bubble ${percent(mine.seconds.bubble / mine.time)}, exposed communication ${percent(exposed / mine.time)}.`;
    return mine.fits ? `It fits. A step takes ${step}` : `It does not fit. ${tooLarge(mine, job.capacity * state.gb)} If it did, a step would take ${step}`;
  }

  function read(i) {
    const p = plan(i), axesOf = state.axes.map((axis, n) => `${NAMES[axis] ?? axis} ${spelled(axis, p.values[n])}`);
    readout.textContent = `${axesOf.join(" · ")} · vp ${p.vp}: ${seconds(p.time)}, ${bytes(p.memory)}, ${p.fits ? "fits" : "does not fit"}`;
  }

  function nearest(event) {
    const svg = field.querySelector("svg"), box = svg.getBoundingClientRect(), scale = 540 / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale - 8];
    const away = points.map((point) => Math.hypot(point[0] - x, point[1] - y)), least = Math.min(...away);
    return least < 16 ? away.indexOf(least) : -1;
  }
  field.addEventListener("pointermove", (event) => { const i = nearest(event); if (i >= 0) read(i); });
  field.addEventListener("click", (event) => { const i = nearest(event); if (i >= 0) { show(i); read(i); } });
  field.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = here < 0 ? job.best : order[Math.max(0, Math.min(order.length - 1, order.indexOf(here) + by))];
    show(next);
    read(next);
  });

  const several = chosen.filter((_, n) => state.choices[n].length > 1);
  if (several.length) root.append(make("div", { class: "ls-bar" }, ...several.map(({ node }) => node)));
  root.append(caption, about, make("div", { class: "ls-bar" }, ...axes.map(({ node }) => node), best), verdict, command, bars, field, readout);
  open();
}

export default { render };
