/* What was compiled, its main figures, the command and the notes. */
function overview() {
  const main = document.getElementById('main');
  const devices = report.partition.devices;
  const chips = plan.devices || [];
  const head = el('section', { class: 'plain', id: 'overview', 'aria-labelledby': 'overview-title' },
    el('h1', { id: 'overview-title' }, report.model),
    el('p', { class: 'lead' }, [report.target, plural(devices, 'device'),
      Object.keys(plan.mesh || {}).length ? 'mesh ' + Object.entries(plan.mesh).map(([axis, size]) => axis + ' ' + size).join(' × ') : ''].filter(Boolean).join(' · ')));
  main.append(head);
  document.getElementById('sections').append(el('li', {}, el('a', { href: '#overview' }, 'Overview')));
  const tiles = [];
  const tile = (name, big, sub) => tiles.push(el('div', { class: 'tile' }, el('dt', {}, name), el('dd', {}, el('div', { class: 'big' }, big), el('div', { class: 'sub' }, sub || '\u00a0'))));
  if (timed) {
    tile('Latency of a run', figure(plan.seconds, seconds, 'seconds'), plan.hitSeconds === undefined ? ['one every ', figure(plan.interval, seconds, 'interval')]
      : ['every attention misses; ', figure(plan.hitSeconds, seconds, 'hitSeconds'), ' if every one hits']);
    tile('Energy of a run', figure(plan.joules, joules, 'joules'), largest(plan.energy, joules));
  }
  // Tiles fill the nearest memory as far as they can, so it says nothing.
  const memories = chips.flatMap(chip => chip.memories.slice(chip.memories.length > 1 ? 1 : 0).map(memory => ({ ...memory, device: chip.device, share: memory.used / memory.available })));
  if (memories.length) {
    const fullest = memories.reduce((a, b) => (a.share > b.share ? a : b));
    tile('Fullest memory', percent(fullest.share), fullest.memory + ' of device ' + fullest.device + ', ' + bytes(fullest.used));
  }
  const sent = report.syncs.reduce((sum, sync) => sum + sync.bytes, 0);
  tile('Sent between devices', figure(sent, bytes, 'sent'), plural(report.syncs.length, 'sync') + ' in a run');
  if (timed) tile('Syncs of a block', figure(plan.syncsPerBlock, whole, 'syncsPerBlock'), plural(plan.blocks, 'block'));
  if (chips.length) tile('Weights of a device', bytes(Math.max(...chips.map(chip => chip.weightBytes))), 'the most; ' + bytes(chips.reduce((sum, chip) => sum + chip.weightBytes, 0)) + ' on all');
  head.append(el('dl', { class: 'tiles' }, tiles));
  if (timed) head.append(breakdown());
  if ((plan.shortages || []).length) {
    head.append(el('p', { class: 'note bad' }, 'The model does not fit: ' + plan.shortages.map(s =>
      'device ' + s.device + ' needs ' + bytes(s.needed) + ' in ' + s.memory + ', which has ' + bytes(s.available)).join('; ')));
  }
  if (report.command) {
    const text = report.command + (data.folder ? ' -o ' + quoted(data.folder) : '');
    const said = el('span', { class: 'off', role: 'status' });
    const copy = el('button', { type: 'button', onclick: async () => {
      try { await navigator.clipboard.writeText(text); said.textContent = 'Copied'; copy.textContent = 'Copied'; } catch (refused) { getSelection().selectAllChildren(line); }
    } }, 'Copy');
    const line = el('code', { id: 'command' }, text);
    head.append(el('h3', {}, 'Command'), el('div', { class: 'command' }, line, copy, said));
  }
  if (report.notes.length) {
    head.append(el('h3', {}, 'Diagnostics'), ...report.notes.map(note => el('div', { class: 'note' },
      el('div', {}, el('b', {}, note.code + ' '), note.title, note.where ? ' · ' + note.where : ''),
      el('div', { class: 'muted' }, [note.expected && 'expected: ' + note.expected, note.found && 'found: ' + note.found, note.fix && 'fix: ' + note.fix].filter(Boolean).join(' · ')))));
  } else {
    head.append(el('p', { class: 'muted' }, 'No diagnostics.'));
  }
  head.append(el('div', { style: { height: '1.25rem' } }));
}
const quoted = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
function largest(parts, format) {
  const [name, value] = Object.entries(parts).reduce((a, b) => (a[1] > b[1] ? a : b), ['', 0]);
  return name ? name + ' ' + format(value) : '';
}
/* The critical path by what it waits for. */
function breakdown() {
  const parts = Object.entries(plan.breakdown).filter(part => part[1] > 0).sort((a, b) => b[1] - a[1]);
  return el('div', {}, el('h3', { style: { 'margin-top': '0' } }, 'What the latency consists of'),
    el('div', { class: 'bar', role: 'img', 'aria-label': parts.map(([name, value]) => name + ' ' + seconds(value)).join(', ') },
      parts.map(([name, value]) => el('span', { style: { flex: value / plan.seconds, background: kindColour(name) } }))),
    legend(parts.map(([name, value]) => [kindColour(name), name, el('b', {}, figure(value, seconds, 'breakdown.' + name), ' · ' + percent(value / plan.seconds))])));
}
