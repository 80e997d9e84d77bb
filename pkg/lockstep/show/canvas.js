// The drawing of a timeline: on a canvas, because 8,064 messages are too many for SVG elements.
// `data` holds columns: start[i], end[i], rank[i], row[i] ... of event i; events are ordered by start. Until began[i],
// an event waits for its other end or for a port.

const RIGHT = 10, TOP = 6, AXIS = 24, MOST_ARROWS = 600, PALE = 0.3, DOTTED = 6;
const SHARED = 3;  // the row of a lane whose bars may lie above each other

/** Where ranks and seconds are on the canvas. */
class Layout {
  constructor(data, width, tall) {
    Object.assign(this, { data, width, left: data.left, from: 0, to: data.total || 1 });
    this.setRow(tall);
  }
  setRow(tall) {
    const { ranks, depth } = this.data;
    this.row = tall ? 16 : Math.max(2, Math.min(16, 560 / (ranks * (depth + 0.4))));
    this.lane = this.row * depth;
    this.pitch = this.lane + Math.max(2, 0.4 * this.row);
    this.bottom = TOP + this.pitch * ranks;
    this.height = this.bottom + AXIS;
  }
  get scale() { return (this.width - this.left - RIGHT) / (this.to - this.from); }
  x(t) { return this.left + (t - this.from) * this.scale; }
  t(x) { return this.from + (x - this.left) / this.scale; }
  y(rank, row = 0) { return TOP + this.pitch * rank + this.row * row; }
  /** Show `span` seconds so that `at` stays where it is. */
  zoom(factor, at) {
    const total = this.data.total || 1, span = Math.min(total, Math.max(total * 1e-7, (this.to - this.from) / factor));
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, span);
  }
  pan(dt) { this.show(this.from + dt, this.to - this.from); }
  show(from, span) {
    this.from = Math.max(0, Math.min(from, (this.data.total || 1) - span));
    this.to = this.from + span;
  }
}

/** Event indices by lane and row, each in order of start. */
function lanesOf(data) {
  const lanes = Array.from({ length: data.ranks * data.depth }, () => []);
  for (let i = 0; i < data.start.length; i++) lanes[data.rank[i] * data.depth + data.row[i]].push(i);
  return lanes;
}

/** How many of `mine` start before t. */
function before(data, mine, t) {
  let low = 0, high = mine.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[mine[middle]] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

function hit(lay, lanes, x, y) {
  const { data } = lay, rank = Math.floor((y - TOP) / lay.pitch), row = Math.floor((y - lay.y(rank)) / lay.row);
  if (rank < 0 || rank >= data.ranks || row < 0 || row >= data.depth || x < lay.left) return -1;
  const mine = lanes[rank * data.depth + row], t = lay.t(x), near = 4 / lay.scale;
  let best = -1, distance = near;
  for (let k = before(data, mine, t + near) - 1, tried = 0; k >= 0 && tried < 200; k--, tried++) {
    const i = mine[k], away = t < data.start[i] ? data.start[i] - t : Math.max(0, t - data.end[i]);
    if (away < distance || (away === 0 && best < 0)) [best, distance] = [i, away];
    if (away === 0) break;
  }
  return best;
}

/** One drawing of the canvas. Returns whether there were more messages than get arrows. */
function paint(context, lay, lanes, colours, chosen) {
  const { data } = lay;
  context.clearRect(0, 0, lay.width, lay.height);
  context.font = "12px system-ui, sans-serif";
  paintLanes(context, lay, colours);
  context.save();
  context.beginPath();
  context.rect(lay.left, 0, lay.width - lay.left - RIGHT + 3, lay.bottom);
  context.clip();
  const names = lanes.flatMap((mine, lane) => paintBars(context, lay, mine, lane, colours));
  paintJoins(context, lay, colours);
  paintEnds(context, lay, colours);
  const crowded = paintArrows(context, lay, colours);
  paintNames(context, names);
  if (chosen >= 0) paintChosen(context, lay, colours, chosen);
  context.restore();
  paintAxis(context, lay, colours);
  return crowded;
}

function paintLanes(context, lay, colours) {
  let room = 0;  // where the next label may stand
  context.textAlign = "right";
  for (let rank = 0; rank < lay.data.ranks; rank++) {
    context.fillStyle = colours.lane;
    context.fillRect(lay.left, lay.y(rank), lay.width - lay.left - RIGHT, lay.lane);
    context.fillStyle = colours.ink;
    const y = lay.y(rank) + lay.lane / 2 + 4;
    if (lay.data.labels[rank] && y >= room) {
      context.fillText(lay.data.labels[rank], lay.data.labelled - 8, y);
      room = y + 12 - 1e-6;
    }
    if (lay.data.speeds[rank]) context.fillText(lay.data.speeds[rank], lay.left - 8, y);
  }
}

/** The bars of one row. Returns the names that have room: they are written above the arrows. */
function paintBars(context, lay, mine, lane, colours) {
  const { data } = lay, y = lay.y(Math.floor(lane / data.depth), lane % data.depth) + 0.5, height = Math.max(1, lay.row - 1);
  const first = Math.max(0, before(data, mine, lay.from) - 1), waits = [], works = [];
  for (let k = first; k < mine.length && data.start[mine[k]] <= lay.to; k++) {
    const i = mine[k], [start, began, end] = [data.start[i], data.began[i], data.end[i]];
    if (began > start) waits.push({ i, x: lay.x(start), right: lay.x(Math.min(began, end)), pale: true });
    if (end > began || began <= start) works.push({ i, x: lay.x(began), right: lay.x(end), pale: false });
  }
  const shown = [waits, works].flatMap((parts) => paintParts(context, lay, parts, y, height, colours));
  const readable = lane % data.depth < SHARED ? shown : shown.filter((part) => !part.pale);
  return height >= 12 ? namesOf(data, readable, y + height / 2 + 4, colours) : [];
}

/** What is under way in full colour, what waits pale. Returns the parts that are seen, each with its `left` and `width`. */
function paintParts(context, lay, parts, y, height, colours) {
  const { data } = lay, seen = [];
  let last = { kind: -1 };
  for (const { i, x, right: end, pale } of parts) {
    const kind = data.kind[i], right = Math.max(end, x + 2);
    if (kind === last.kind && x >= last.x && right <= last.right) continue;
    last = { kind, x, right };
    const left = Math.max(x, lay.left - 2), width = Math.min(right, lay.width) - left;
    if (width <= 0) continue;
    context.fillStyle = data.colours[kind];
    context.globalAlpha = pale ? PALE : 1;
    context.fillRect(left, y, width, height);
    context.globalAlpha = 1;
    if (right - x > 4 && height > 4) {
      context.strokeStyle = colours.edge;  // dark colours are hardly seen on a dark page
      context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
    }
    seen.push({ i, left, width, pale });
  }
  return seen;
}

/** One name for each bar: in full colour if there is room, else where it is pale. */
function namesOf(data, parts, y, colours) {
  const names = new Map();
  for (const { i, left, width, pale } of parts) {
    const kind = data.kind[i], name = data.names[data.name[i]];
    const words = name && data.passes[kind] ? [name, name.split(", ")[0]] : [data.named[kind] && name || data.kinds[kind]];
    const word = words.find((one) => width > 7 * one.length + 8);
    if (word) names.set(i, { word, x: left + 4, y, ink: pale ? colours.ink : data.inks[kind] });
  }
  return [...names.values()];
}

function paintNames(context, names) {
  context.textAlign = "left";
  for (const { word, x, y, ink } of names) {
    context.fillStyle = ink;
    context.fillText(word, x, y);
  }
}

/** What lanes do together: a line where it begins, with a dot on each of them, and one where it ends. */
function paintJoins(context, lay, colours) {
  context.fillStyle = colours.ink;
  for (const [lanes, start, end] of lay.data.joins) {
    const top = lay.y(Math.min(...lanes)), bottom = lay.y(Math.max(...lanes)) + lay.lane;
    for (const t of [start, end]) context.fillRect(lay.x(t) - 0.5, top, 1, bottom - top);
    for (const lane of lay.row < DOTTED ? [] : lanes) {
      context.beginPath();
      context.arc(lay.x(start), lay.y(lane) + lay.lane / 2, 3, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/** The time of each run that is compared, behind its last bar. */
function paintEnds(context, lay, colours) {
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  for (const [lane, at, told] of lay.data.ends) {
    context.fillRect(lay.x(at) - 1, lay.y(lane) - 2, 1.5, lay.lane + 4);
    context.font = "bold 12px system-ui, sans-serif";
    const place = Math.min(lay.x(at) + 4, lay.width - RIGHT - context.measureText(told).width);
    context.fillText(told, place, lay.y(lane) + lay.row / 2 + 4);
    context.font = "12px system-ui, sans-serif";
  }
}

function paintArrows(context, lay, colours) {
  const { arrows } = lay.data, visible = [];
  for (let a = 0; a < arrows.send.length; a++) {
    if (arrows.start[a] <= lay.to && arrows.end[a] >= lay.from) visible.push(a);
  }
  context.globalAlpha = visible.length > 150 ? 0.35 : 0.75;
  context.strokeStyle = context.fillStyle = colours.ink;
  context.lineWidth = 1;
  visible.sort((a, b) => arrows.start[a] - arrows.start[b]);
  for (const a of visible.slice(0, MOST_ARROWS)) paintArrow(context, lay, a);
  context.globalAlpha = 1;
  return visible.length > MOST_ARROWS;
}

function paintArrow(context, lay, a) {
  const { data } = lay, { arrows } = data, [i, j] = [arrows.send[a], arrows.recv[a]];
  const top1 = lay.y(data.rank[i], data.row[i]), top2 = lay.y(data.rank[j], data.row[j]), down = top1 < top2;
  const x1 = lay.x(arrows.start[a]), y1 = down ? top1 + lay.row : top1;
  const x2 = lay.x(arrows.end[a]), y2 = down ? top2 : top2 + lay.row;
  const angle = Math.atan2(y2 - y1, x2 - x1), head = Math.min(7, lay.row);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - head * Math.cos(angle - 0.4), y2 - head * Math.sin(angle - 0.4));
  context.lineTo(x2 - head * Math.cos(angle + 0.4), y2 - head * Math.sin(angle + 0.4));
  context.fill();
}

/** The chosen event, and all that belong to the same message or collective. */
function paintChosen(context, lay, colours, chosen) {
  const { data } = lay, message = data.message[chosen];
  context.strokeStyle = context.fillStyle = colours.ink;
  context.lineWidth = 2;
  for (let i = 0; i < data.start.length; i++) {
    if (i !== chosen && (message < 0 || data.message[i] !== message)) continue;
    const width = Math.max(3, (data.end[i] - data.start[i]) * lay.scale);
    context.strokeRect(lay.x(data.start[i]) - 1, lay.y(data.rank[i], data.row[i]), width + 2, Math.max(3, lay.row));
  }
  lay.data.arrows.send.forEach((send, a) => {
    if (send === chosen || lay.data.arrows.recv[a] === chosen) paintArrow(context, lay, a);
  });
  context.lineWidth = 1;
}

/** The clock's hand; what comes after it is covered. */
function paintClock(context, lay, colours, moment) {
  const x = Math.max(lay.left, Math.min(lay.width, lay.x(moment))), top = lay.y(0) - 2;
  context.fillStyle = colours.paper;
  context.globalAlpha = 0.85;
  context.fillRect(x, top, lay.width - x, lay.bottom - top);
  context.globalAlpha = 1;
  context.fillStyle = colours.ink;
  context.fillRect(x - 1, top, 2, lay.bottom - top);
}

function paintAxis(context, lay, colours) {
  const [scale, unit] = timeUnit(lay.to), span = (lay.to - lay.from) / scale, rough = span / Math.max(2, Math.min(8, (lay.width - lay.left) / 70));
  const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((m) => m * power >= rough * 0.999) * power;
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  context.fillStyle = context.strokeStyle = colours.faint;
  context.fillRect(lay.left, lay.bottom + 1, lay.width - lay.left - RIGHT, 1);
  context.textAlign = "left";
  context.fillText(unit, 6, lay.bottom + 17);
  context.textAlign = "center";
  for (let k = Math.ceil(lay.from / scale / step - 1e-9); k * step * scale <= lay.to * (1 + 1e-12); k++) {
    const x = lay.x(k * step * scale);
    context.fillRect(x, lay.bottom + 1, 1, 5);
    context.fillText((k * step).toFixed(decimals), x, lay.bottom + 17);
  }
}

function coloursOf(root) {
  const style = getComputedStyle(root), of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ls-ink"), faint: of("--ls-faint"), lane: of("--ls-lane"), edge: of("--ls-edge"), paper: of("--ls-paper") };
}
