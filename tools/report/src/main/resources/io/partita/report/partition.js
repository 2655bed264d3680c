/* Which part of each weight each device has, drawn over the operations of a block. */
function partition() {
  const groups = report.partition.groups;
  if (!groups.length) return;
  const host = section('partition', 'Partition',
    'The operations of a block from left to right, and the part of each that a device has. Bars show the part of the dimension that is split. Devices communicate at the columns between them.');
  const names = groups.map(groupName);
  const first = Math.max(0, groups.findIndex(group => group.blocks.length));
  const view = el('div', {});
  const choice = el('select', { 'aria-label': 'Part of the model', onchange: () => view.replaceChildren(partitionTable(groups[choice.selectedIndex], names[choice.selectedIndex])) },
    names.map((name, i) => el('option', { selected: i === first }, name)));
  host.append(el('div', { class: 'tools' }, groups.length > 1 ? el('label', {}, 'Show ', choice) : el('b', {}, names[0])), view,
    legend([['var(--compute)', 'a part of its own'], ['repeating-linear-gradient(45deg, var(--state) 0 3px, var(--wash) 3px 5px)', 'a copy of the whole'], ['var(--link)', 'sync']]));
  view.append(partitionTable(groups[first], names[first]));
  if (report.partition.states.length) {
    const states = { blocks: [], parts: report.partition.states.map(state => ({ ...state, kind: 'state', role: 'cache' })) };
    const list = el('details', {}, el('summary', {}, plural(states.parts.length, 'cache') + ' that the program keeps'));
    list.append(table('Caches', [['Name', false, 'name'], ['Type', false], ['Parts', false]], states.parts.map(state =>
      [state.name, el('code', {}, state.type), el('code', {}, state.layout || 'whole')])));
    host.append(list);
  }
}
function groupName(group, i) {
  const blocks = group.blocks;
  if (!blocks.length) return i === 0 ? 'before the blocks' : 'after the blocks';
  return blockRange(blocks);
}
function blockRange(blocks) {
  const runs = [];
  for (const block of blocks) {
    const last = runs[runs.length - 1];
    if (last && block === last[1] + 1) last[1] = block; else runs.push([block, block]);
  }
  return (blocks.length === 1 ? 'block ' : 'blocks ') + runs.map(([a, b]) => (a === b ? a : a + '–' + b)).join(', ');
}
function partitionTable(group, name) {
  const devices = report.partition.devices;
  const heads = group.parts.map(part => el('th', { scope: 'col', class: part.kind === 'sync' ? 'sync' : null, title: part.name },
    part.kind === 'sync' ? 'sync' : [part.role, el('div', { class: 'range' }, part.type.replace(/^\w+/, ''))]));
  const rows = [];
  for (let device = 0; device < devices; device++) {
    const cells = [el('th', { scope: 'row' }, 'device ' + device)];
    for (const part of group.parts) {
      if (part.kind === 'sync') { if (device === 0) cells.push(syncCell(report.syncs[part.sync], devices)); continue; }
      cells.push(el('td', {}, partCell(part, device)));
    }
    rows.push(el('tr', {}, cells));
  }
  return el('div', { class: 'scroll partition', tabindex: 0, role: 'region', 'aria-label': 'Partition of ' + name },
    el('table', {}, el('caption', { class: 'off' }, 'Partition of ' + name), el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, name), heads)), el('tbody', {}, rows)));
}
function syncCell(sync, devices) {
  const kinds = Object.values(sync.kinds).filter((kind, i, all) => all.indexOf(kind) === i).join(' and ');
  return el('td', { class: 'sync', rowspan: devices, title: sync.name },
    el('div', {}, el('b', {}, kinds), devices > 2 ? el('br', {}) : ' ', bytes(sync.bytes) + (sync.seconds === undefined ? '' : ', ' + seconds(sync.seconds))));
}
function partCell(part, device) {
  const held = part.held ? part.held[device] : [0, 1];
  if (!held.length) return [el('div', { class: 'track' }), el('div', { class: 'range' }, 'nothing')];
  const split = part.dim !== undefined;
  const extent = split ? part.extent : 1;
  const copied = split && part.held.filter(other => other[0] === held[0] && other[1] === held[1]).length > 1;
  const isOnly = part.held && part.held.filter(other => other.length).length === 1;
  const whole = isOnly || (split && !copied);
  const fill = part.kind === 'attention' || part.kind === 'state' ? 'var(--activation)' : 'var(--compute)';
  return [el('div', { class: 'track', 'aria-hidden': 'true' }, el('i', {
    class: whole ? null : 'copy',
    style: { left: 100 * held[0] / extent + '%', width: 100 * (held[1] - held[0]) / extent + '%', background: whole ? fill : 'var(--state)' } })),
  el('div', { class: 'range' }, split ? (held[1] - held[0] === 1 ? held[0] : held[0] + '–' + (held[1] - 1)) + ' of ' + extent : 'whole')];
}
