/* What every resource does over a run, with zoom, selection, the critical path and the gaps. */
const SHOWN_DEVICES = 16;
const TIMELINE = { left: 118, right: 14, top: 8, bottom: 62 };

function timeline() {
  if (!report.timeline) return;
  const host = section('timeline', 'Timeline',
    'One run, as it is predicted. The filled part of a bar is the share of the time in which the resource is busy; of a step of the cores, that in which kernels run.');
  const devices = report.partition.devices;
  const state = { path: true, from: 0, to: plan.seconds, page: 0, selected: null };
  const details = el('div', { class: 'details', role: 'status', 'aria-live': 'polite' }, el('span', { class: 'muted' }, 'Point at a bar, or focus the timeline and press '), el('kbd', {}, 'N'), el('span', { class: 'muted' }, ' for the next step.'));
  const pages = Math.ceil(devices / SHOWN_DEVICES);
  const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const zoom = factor => { const middle = (state.from + state.to) / 2; const half = (state.to - state.from) / 2 / factor; range(middle - half, middle + half); };
  const pan = share => { const by = (state.to - state.from) * share; range(state.from + by, state.to + by); };
  const toggle = el('button', { type: 'button', 'aria-pressed': 'true', onclick: () => { state.path = !state.path; toggle.setAttribute('aria-pressed', state.path); view.draw(); } }, 'Critical path');
  const tools = el('div', { class: 'tools' }, button('−', 'Zoom out', () => zoom(0.5)), button('+', 'Zoom in', () => zoom(2)), button('←', 'Earlier', () => pan(-0.5)), button('→', 'Later', () => pan(0.5)),
    button('Whole run', 'Show the whole run', () => range(0, plan.seconds)), toggle,
    pages > 1 ? el('select', { 'aria-label': 'Devices', onchange: event => { state.page = event.target.selectedIndex; rebuild(); } },
      Array.from({ length: pages }, (_, i) => el('option', {}, 'devices ' + i * SHOWN_DEVICES + '–' + (Math.min(devices, (i + 1) * SHOWN_DEVICES) - 1)))) : null,
    el('span', { class: 'space' }), el('span', { class: 'muted' }, 'keys: ', el('kbd', {}, '+'), ' ', el('kbd', {}, '−'), ' ', el('kbd', {}, '←'), ' ', el('kbd', {}, '→'), ' ', el('kbd', {}, 'N'), ' ', el('kbd', {}, 'P'), ' ', el('kbd', {}, '0')));
  const box = el('div', {});
  host.append(tools, box, timelineLegend(), details);
  let view = null;
  let lanes = [];
  function range(from, to) {
    const width = Math.min(plan.seconds, Math.max(to - from, plan.seconds / 1e5));
    state.from = Math.min(Math.max(0, from), plan.seconds - width);
    state.to = state.from + width;
    view.made.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, startValue: state.from, endValue: state.to });
  }
  function rebuild() {
    lanes = placedLanes(state.page * SHOWN_DEVICES, Math.min(devices, (state.page + 1) * SHOWN_DEVICES));
    if (view) { view.made.dispose(); charts.splice(charts.indexOf(view.entry), 1); box.replaceChildren(); }
    const height = lanes.length ? lanes[lanes.length - 1].top + lanes[lanes.length - 1].height + TIMELINE.top + TIMELINE.bottom + 6 : 80;
    view = chart(box, height, 'Timeline of ' + plural(devices, 'device') + ' over ' + seconds(plan.seconds) + '; the tables below have its figures', () => timelineOptions(lanes, state, height), (made, area) => {
      hover(made, item => (item.data && item.data.lines) || null);
      made.on('click', item => { if (item.data && item.data.lines) select(item.data); });
      made.on('datazoom', () => { const zoomed = made.getOption().dataZoom[0]; state.from = zoomed.startValue; state.to = zoomed.endValue; });
      area.tabIndex = 0;
      area.setAttribute('role', 'application');
      area.addEventListener('keydown', keys);
    });
    view.entry = charts[charts.length - 1];
  }
  function select(item) { details.replaceChildren(el('b', {}, item.lines[0]), ...item.lines.slice(1).map(line => el('div', {}, line))); state.selected = item; }
  function keys(event) {
    const acts = { '+': () => zoom(2), '=': () => zoom(2), '-': () => zoom(0.5), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), 0: () => range(0, plan.seconds), n: () => next(1), p: () => next(-1) };
    const act = acts[event.key] || acts[event.key.toLowerCase()];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); act(); }
  }
  /* Selects the next item of the lane of the selected one, or the first that is shown. */
  function next(by) {
    const lane = lanes.find(each => each.items.includes(state.selected)) || lanes[0];
    const at = lane.items.indexOf(state.selected);
    const item = at < 0 ? lane.items.find(each => each.start >= state.from) : lane.items[at + by];
    if (!item) return;
    select(item);
    if (item.start < state.from || item.start + item.seconds > state.to) { const width = state.to - state.from; range(item.start - width / 2, item.start + width / 2); }
    view.draw();
  }
  rebuild();
  host.append(gapTable((from, to) => { const around = (to - from) * 0.6; range(from - around, to + around); box.scrollIntoView({ block: 'center' }); }), busyTable());
}
function timelineLegend() {
  const steps = data.prediction ? [['var(--exchange)', 'exchange'], ['var(--wait)', 'waiting for L3']] : [];
  const kinds = [...new Set(report.timeline.resources.map(resource => resource.kind))].filter(kind => kind !== 'compute');
  return legend([['var(--compute)', 'compute'], ...steps, ...kinds.map(kind => [kindColour(kind), kind === 'links' ? 'links' : channelName(kind)]), ['var(--path)', 'critical path']]);
}
/* The channel whose farther memory has this name. */
function channelName(kind) {
  const memories = report.schedule ? report.schedule.roles[0].memories.map(memory => memory.name) : [];
  const at = memories.indexOf(kind);
  return at > 0 ? (at === 1 ? 'DMA, ' : '') + memories[at].toUpperCase() + ' and ' + memories[at - 1].toUpperCase() : kind.toUpperCase();
}
/* The lanes from top to bottom. */
function placedLanes(first, end) {
  const all = [];
  let top = 0;
  const add = (lane, name) => { all.push({ ...lane, top, title: name }); top += lane.height + 3; };
  for (let device = first; device < end; device++) {
    lanesOf(device).forEach((lane, i) => add(lane, i === 0 ? 'device ' + device : lane.name));
    top += 6;
  }
  const links = linkLanes();
  links.forEach(lane => add(lane, lane.name));
  return all;
}
function timelineOptions(lanes, state, height) {
  const colours = {};
  for (const name of ['compute', 'exchange', 'l1', 'l3', 'link', 'wait', 'path', 'ink', 'soft', 'wash', 'line']) colours[name] = colour(name);
  const items = [];
  lanes.forEach(lane => lane.items.forEach(item => { item.value = [item.start, item.start + item.seconds, lane.top, lane.height]; items.push(item); }));
  const path = [];
  const at = new Map(lanes.map(lane => [lane.kind + '/' + (lane.kind === 'links' ? lane.name : lane.device), lane]));
  if (state.path) {
    for (const [number, start, length] of report.timeline.criticalPath) {
      const resource = report.timeline.resources[number];
      const lane = at.get(resource.kind + '/' + (resource.kind === 'links' ? resource.name : resource.device));
      if (lane) path.push({ value: [start / 1e9, (start + length) / 1e9, lane.top, lane.height] });
    }
  }
  const place = (params, api) => {
    const [x, y] = api.coord([api.value(0), api.value(2)]);
    const right = api.coord([api.value(1), 0])[0];
    const bounds = params.coordSys;
    const left = Math.max(x, bounds.x);
    return { left, y, width: Math.min(right, bounds.x + bounds.width) - left, height: api.value(3) };
  };
  const bar = (params, api) => {
    const at = place(params, api);
    if (at.width < 0) return null;
    const item = items[params.dataIndex];
    const width = Math.max(at.width, 0.6);
    const fill = colours[item.colour];
    const full = { type: 'rect', shape: { x: at.left, y: at.y, width, height: at.height }, style: { fill, opacity: item.share < 0.995 ? 0.32 : 1 } };
    const busy = { type: 'rect', shape: { x: at.left, y: at.y + at.height * (1 - item.share), width, height: at.height * item.share }, style: { fill } };
    const parts = item.share < 0.995 ? [full, busy] : [full];
    if (item === state.selected) parts.push({ type: 'rect', shape: { x: at.left, y: at.y, width, height: at.height }, style: { fill: 'none', stroke: colours.ink, lineWidth: 2 } });
    return { type: 'group', children: parts };
  };
  const line = (params, api) => {
    const at = place(params, api);
    return at.width < 0 ? null : { type: 'rect', shape: { x: at.left, y: at.y + at.height - 1, width: Math.max(at.width, 0.6), height: 3 }, style: { fill: colours.path }, silent: true };
  };
  const bottom = height - TIMELINE.top - TIMELINE.bottom;
  return {
    grid: { left: TIMELINE.left, right: TIMELINE.right, top: TIMELINE.top, bottom: TIMELINE.bottom },
    xAxis: { type: 'value', min: 0, max: plan.seconds, ...axisStyle(), axisLabel: { color: colours.soft, fontSize: 11, formatter: value => seconds(value), hideOverlap: true, showMaxLabel: false }, splitLine: { show: true, lineStyle: { color: colours.line, opacity: 0.7 } } },
    yAxis: { type: 'value', min: 0, max: bottom, inverse: true, show: false },
    dataZoom: [
      { type: 'inside', xAxisIndex: 0, filterMode: 'none', startValue: state.from, endValue: state.to, zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
      { type: 'slider', xAxisIndex: 0, filterMode: 'none', startValue: state.from, endValue: state.to, height: 18, bottom: 8, showDetail: false, brushSelect: false, borderColor: colours.line, fillerColor: colours.wash, backgroundColor: 'transparent',
        dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, handleStyle: { color: colours.soft }, moveHandleStyle: { color: colours.line } }],
    graphic: lanes.map(lane => ({ type: 'text', right: undefined, left: 4, top: TIMELINE.top + lane.top + lane.height / 2 - 6, silent: true,
      style: { text: lane.title.length > 17 ? lane.title.slice(0, 16) + '…' : lane.title, fill: lane.title.startsWith('device') ? colours.ink : colours.soft, fontSize: lane.title.startsWith('device') ? 12 : 10, fontFamily: 'inherit', fontWeight: lane.title.startsWith('device') ? 600 : 400, x: lane.title.startsWith('device') ? 0 : 8 } })),
    series: [
      { type: 'custom', renderItem: bar, data: items, encode: { x: [0, 1], y: 2 }, clip: true, progressive: 0 },
      { type: 'custom', renderItem: line, data: path, encode: { x: [0, 1], y: 2 }, clip: true, silent: true, progressive: 0, z: 5 }],
  };
}
function gapTable(show) {
  const gaps = [];
  for (let device = 0; device < report.partition.devices; device++) gaps.push(...gapsOf(device));
  gaps.sort((a, b) => b.end - b.start - (a.end - a.start));
  const rows = alikeGaps(gaps).slice(0, 12).map(gap => {
    const reasons = [...gap.reasons].sort((a, b) => b[1] - a[1]);
    return [blockRange(gap.devices).replace('block', 'device'), seconds(gap.end - gap.start), seconds(gap.start), reasons.slice(0, 2).map(([reason, time]) => reason + ' (' + seconds(time) + ')').join('; ') + (reasons.length > 2 ? '; ' + (reasons.length - 2) + ' more' : ''),
      el('button', { type: 'button', 'aria-label': 'Show the gap of device ' + gap.device + ' at ' + seconds(gap.start), onclick: () => show(gap.start, gap.end) }, 'Show')];
  });
  return el('div', {}, el('h3', {}, 'Longest gaps, in which cores compute nothing'),
    rows.length ? table('Gaps', [['Device', false], ['Length', true], ['Begins', true], ['Reason', false, 'name'], ['', false]], rows) : el('p', { class: 'muted' }, 'None.'));
}
/* Gaps of several devices at the same time and for the same reason are one. */
function alikeGaps(gaps) {
  const alike = new Map();
  for (const gap of gaps) {
    const near = time => Math.round(time / plan.seconds * 300);
    const kind = [near(gap.start), near(gap.end - gap.start), ...gap.reasons.keys()].join('|');
    // A second gap of a device belongs to another row.
    let row = 0;
    while (alike.get(kind + row)?.devices.includes(gap.device)) row++;
    const key = kind + row;
    if (!alike.has(key)) alike.set(key, { ...gap, devices: [] });
    alike.get(key).devices.push(gap.device);
  }
  alike.forEach(gap => gap.devices.sort((a, b) => a - b));
  return [...alike.values()];
}
function busyTable() {
  const rows = (plan.devices || []).map(device => [
    'device ' + device.device, figure(device.computeSeconds, seconds, 'computeSeconds.' + device.device), percent(device.computeSeconds / plan.seconds),
    Object.entries(device.bytes).map(([memory, moved]) => memory + ' ' + bytes(moved)).join(', '), figure(device.joules, joules, 'deviceJoules.' + device.device)]);
  return el('details', {}, el('summary', {}, 'Figures of each device'),
    table('Devices', [['Device', false], ['Cores compute', true], ['of the run', true], ['Moved', false], ['Energy', true]], rows));
}
