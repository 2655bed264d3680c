/* What is in each memory of each device, and in the home memory over time. */
function memory() {
  const devices = plan.devices || [];
  if (!devices.length) return;
  const host = section('memory', 'Memory', 'How full each memory is, and what is where over the time of a run.');
  const contents = [...new Set(devices.flatMap(device => device.memories.flatMap(use => Object.keys(use.bytes))))];
  const names = [...new Set(devices.flatMap(device => device.memories.map(use => use.memory)))];
  const cell = (device, use) => (use ? el('div', { style: { 'min-width': '9.5rem' } },
    el('div', { class: 'bar thin', style: { margin: '.3rem 0 .2rem' }, role: 'img', 'aria-label': Object.entries(use.bytes).map(([content, count]) => content + ' ' + bytes(count)).join(', ') },
      Object.entries(use.bytes).map(([content, count]) => el('span', { title: content + ' ' + bytes(count), style: { width: 100 * count / Math.max(use.available, use.used) + '%', background: 'var(--' + contentName(content) + ')' } }))),
    el('div', { class: use.used > use.available ? 'bad' : 'muted' }, figure(use.used, bytes, 'used.' + device.device + '.' + use.memory), ' of ' + bytes(use.available) + ' · ' + percent(use.used / use.available))) : '');
  const rows = devices.map(device => ['device ' + device.device, ...names.map(name => cell(device, device.memories.find(use => use.memory === name)))]);
  host.append(legend(contents.map(content => ['var(--' + contentName(content) + ')', content])),
    table('Use of memories', [['Device', false], ...names.map(name => [name.toUpperCase(), false])], rows));
  if (report.schedule) memoryMap(host);
}
function memoryMap(host) {
  const roles = report.schedule.roles;
  const devices = roles.flatMap((role, number) => role.devices.map(device => ({ device, role, number }))).sort((a, b) => a.device - b.device);
  let at = devices[0];
  let level = 1;
  const view = el('div', {});
  const details = el('div', { class: 'details', role: 'status', 'aria-live': 'polite' }, el('span', { class: 'muted' }, 'Point at a region to see what it holds.'));
  const keys = el('div', {});
  const levels = el('span', { role: 'group', 'aria-label': 'Memory', class: 'tools', style: { margin: 0 } }, at.role.memories.map((use, i) =>
    el('button', { type: 'button', 'aria-pressed': String(i === level), onclick: () => { level = i; levels.childNodes.forEach((button, j) => button.setAttribute('aria-pressed', j === i)); show(); } }, use.name)));
  const choice = el('select', { 'aria-label': 'Device', onchange: () => { at = devices[choice.selectedIndex]; show(); } }, devices.map(each => el('option', {}, 'device ' + each.device)));
  const list = el('details', {}, el('summary', {}, 'Regions as a table'));
  host.append(el('h3', {}, 'Memory map over time'), el('div', { class: 'tools' }, choice, levels), view, keys, details, list);
  let entry = null;
  function show() {
    if (entry) { entry.made.dispose(); charts.splice(charts.indexOf(entry.registered), 1); view.replaceChildren(); }
    const use = at.role.memories[level];
    const regions = regionsOf(at, level);
    entry = chart(view, 340, 'Memory map of ' + use.name + ' of device ' + at.device + ': ' + plural(regions.length, 'region') + ', ' + bytes(use.used) + ' of ' + bytes(use.available) + ' used', () => mapOptions(regions, use), made => {
      const lines = item => item.data && item.data.lines;
      hover(made, lines);
      made.on('click', item => { const text = lines(item); if (text) details.replaceChildren(el('b', {}, text[0]), ...text.slice(1).map(line => el('div', {}, line))); });
    });
    entry.registered = charts[charts.length - 1];
    keys.replaceChildren(legend([...new Set(regions.map(region => region.content))].map(content => ['var(--' + contentName(content) + ')', content])));
    list.replaceChildren(list.firstChild, table('Regions', [['Name', false, 'name'], ['Content', false], ['Offset', true], ['Size', true], ['From', true], ['To', true]],
      regions.slice(0, 400).map(region => [region.name, region.content, whole(region.offset), bytes(region.bytes), seconds(region.from), seconds(region.to)])));
    if (regions.length > 400) list.append(el('p', { class: 'muted' }, whole(regions.length - 400) + ' more.'));
  }
  show();
}
/* The regions of a memory with the seconds from and to which they are used. */
function regionsOf(at, level) {
  const steps = chipSteps(at.device);
  const end = steps.length ? steps[steps.length - 1].start + steps[steps.length - 1].seconds : plan.seconds;
  const from = step => (step < 0 ? 0 : step < steps.length ? steps[step].start : end);
  const held = regions => regions.map(region => ({ ...region, from: from(region.first), to: region.last < 0 ? 0 : from(region.last + 1) })).filter(region => region.to > region.from);
  if (level === 1) return held(at.role.home);
  if (level > 1) return at.role.far.filter(region => region.memory === level).map(region => ({ ...region, from: 0, to: end }));
  const kernels = kernelsOf(at.number);
  return held(at.role.near).concat(steps.filter(step => step.kind === 'loop' && kernels.has(step.call)).flatMap(step => kernels.get(step.call).working.map(tile => ({
    ...tile, name: tile.name + (tile.slots > 1 ? ' (' + tile.slots + ' slots of ' + bytes(tile.bytes) + ')' : '') + ' of ' + step.call, bytes: tile.bytes * tile.slots, from: step.start, to: step.start + step.seconds }))));
}
function mapOptions(regions, use) {
  const fills = {};
  const items = regions.map(region => {
    const name = contentName(region.content);
    fills[name] = fills[name] || colour(name);
    return { value: [region.from, region.to, region.offset, region.offset + region.bytes], fill: name, name: region.name,
      lines: [region.name, region.content + ', ' + bytes(region.bytes) + ' at ' + whole(region.offset), seconds(region.from) + ' to ' + seconds(region.to)] };
  });
  const edge = colour('panel');
  const draw = (params, api) => {
    const [x, bottom] = api.coord([api.value(0), api.value(2)]);
    const [right, top] = api.coord([api.value(1), api.value(3)]);
    const bounds = params.coordSys;
    const left = Math.max(x, bounds.x);
    const width = Math.max(0.5, Math.min(right, bounds.x + bounds.width) - left);
    if (right < bounds.x || x > bounds.x + bounds.width) return null;
    const height = Math.max(0.7, bottom - top);
    const item = items[params.dataIndex];
    const children = [{ type: 'rect', shape: { x: left, y: top, width, height }, style: { fill: fills[item.fill], stroke: edge, lineWidth: width > 4 && height > 4 ? 1 : 0 } }];
    if (width > 90 && height > 14) children.push({ type: 'text', style: { text: item.name, x: left + 5, y: top + height / 2, width: width - 10, overflow: 'truncate', fill: edge, fontSize: 11, verticalAlign: 'middle' }, silent: true });
    return { type: 'group', children };
  };
  const top = regions.reduce((most, region) => Math.max(most, region.offset + region.bytes), 1);
  const max = top > 0.35 * use.available ? use.available : Math.min(use.available, Math.ceil(top * 1.15));
  return {
    grid: { left: 74, right: 14, top: 12, bottom: 58 },
    xAxis: { type: 'value', min: 0, max: plan.seconds, ...axisStyle(), axisLabel: { color: colour('soft'), fontSize: 11, hideOverlap: true, showMaxLabel: false, formatter: value => seconds(value) }, splitLine: { show: false } },
    yAxis: { type: 'value', min: 0, max, ...axisStyle(), axisLabel: { color: colour('soft'), fontSize: 11, formatter: value => bytes(value) } },
    dataZoom: [{ type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
      { type: 'slider', filterMode: 'none', height: 18, bottom: 8, showDetail: false, brushSelect: false, borderColor: colour('line'), fillerColor: colour('wash'), backgroundColor: 'transparent',
        dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, handleStyle: { color: colour('soft') }, moveHandleStyle: { color: colour('line') } }],
    series: [{ type: 'custom', renderItem: draw, data: items, encode: { x: [0, 1], y: [2, 3] }, clip: true }],
  };
}
