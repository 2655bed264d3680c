/* The syncs of a run, those of equal blocks together, and the bytes on links. */
function syncs() {
  if (!report.syncs.length) return;
  const host = section('syncs', 'Syncs', 'Where values become whole again: what devices exchange in each block, how it is encoded, and how long it takes from the arrival of the last device.');
  const groups = new Map();
  for (const sync of report.syncs) {
    const kinds = Object.entries(sync.kinds).map(([axis, kind]) => kind + ' (' + axis + ')').join(', ');
    const key = JSON.stringify([kinds, sync.type, sync.algorithm, sync.codec, sync.bytes, sync.messages, sync.seconds === undefined ? '' : sync.seconds.toPrecision(3)]);
    if (!groups.has(key)) groups.set(key, { ...sync, kinds, all: [] });
    groups.get(key).all.push(sync);
  }
  const blocksOf = all => {
    const inside = [...new Set(all.map(sync => sync.block).filter(block => block >= 0 && block < (plan.blocks || Infinity)))].sort((a, b) => a - b);
    const others = all.filter(sync => !inside.includes(sync.block)).length;
    return inside.length ? blockRange(inside) + (others ? ', and ' + others + ' outside' : '') : all[0].block < 0 ? 'outside of blocks' : 'after the blocks';
  };
  const time = report.syncs[0].seconds !== undefined;
  const columns = [['Blocks', false], ['Count', true], ['Kind', false], ['Value', false], ['Codec', false], ['Algorithm', false], ['Messages', true], ['Bytes', true]];
  const rows = [...groups.values()].map(group => [blocksOf(group.all), group.all.length, group.kinds, el('code', {}, group.type), group.codec, group.algorithm,
    whole(group.messages), bytes(group.bytes), ...(time ? [seconds(group.seconds)] : [])]);
  const total = name => report.syncs.reduce((sum, sync) => sum + sync[name], 0);
  host.append(table('Syncs', [...columns, ...(time ? [['Time of each', true]] : [])], rows,
    ['all', report.syncs.length, '', '', '', '', whole(total('messages')), bytes(total('bytes')), ...(time ? [seconds(total('seconds'))] : [])]));
  host.append(el('details', {}, el('summary', {}, 'Each sync'), table('Each sync', [['Name', false, 'name'], ['Block', true], ['Kind', false], ['Codec', false], ['Bytes', true], ...(time ? [['Time', true]] : [])],
    report.syncs.map((sync, i) => [sync.name, sync.block < 0 ? '' : sync.block, Object.values(sync.kinds).join(', '), sync.codec, figure(sync.bytes, bytes, 'sync.' + i + '.bytes'), ...(time ? [figure(sync.seconds, seconds, 'sync.' + i + '.seconds')] : [])]))));
  const links = Object.entries(plan.links || {});
  if (links.length) {
    const most = Math.max(...links.map(link => link[1]));
    host.append(el('details', {}, el('summary', {}, 'Bytes on each link'), table('Links', [['Link', false], ['', false], ['Bytes', true]], links.map(([name, count]) =>
      [name, el('div', { class: 'bar thin', style: { 'min-width': '10rem', margin: '.42rem 0' } }, el('span', { style: { width: 100 * count / most + '%', background: 'var(--link)' } })), figure(count, bytes, 'link.' + name)]))));
  }
}
