'use strict';
/* The data of the page, its elements, and how numbers are written. */
const data = JSON.parse(document.getElementById('data').textContent);
const report = data.report;
const plan = report.plan || {};
const timed = typeof plan.seconds === 'number';

/* Creates an element; children are elements or text, never markup. */
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const [p, v] of Object.entries(value)) made.style.setProperty(p, v);
    else made.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
  return made;
}

function scaled(value, units, step) {
  let unit = 0;
  let left = Math.abs(value);
  while (unit < units.length - 1 && left >= step) { left /= step; unit++; }
  const number = unit === 0 && Number.isInteger(left) ? String(left) : left.toPrecision(left >= 100 ? Math.ceil(Math.log10(left + 1e-9)) : 3);
  return (value < 0 ? '-' : '') + number + ' ' + units[unit];
}
const bytes = value => scaled(value, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const whole = value => Math.round(value).toLocaleString('en-US');
function small(value, unit) {
  if (value === 0) return '0 ' + unit;
  const steps = [[1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p']];
  const [size, prefix] = steps.find(step => Math.abs(value) >= step[0] * 0.9995) || steps[4];
  const left = value / size;
  const digits = Math.abs(left) >= 100 ? 0 : Math.abs(left) >= 10 ? 1 : 2;
  return left.toFixed(digits) + ' ' + prefix + unit;
}
const seconds = value => small(value, 's');
const joules = value => small(value, 'J');
const percent = value => (100 * value).toFixed(value !== 1 && (Math.abs(value) < 0.1 || value > 0.99 && value < 1.01) ? 1 : 0) + ' %';
const plural = (count, word) => whole(count) + ' ' + word + (count === 1 ? '' : 's');

/* A number with its exact value, which tests and scripts read. */
function figure(value, format, key, attributes) {
  return el('span', { 'data-value': value, 'data-key': key, title: String(value), ...attributes }, format(value));
}

/* A table; a column is [heading, whether numeric]; a cell is text or an element. */
function table(caption, columns, rows, foot) {
  const numeric = columns.map(column => column[1]);
  const cells = (row, head) => row.map((cell, i) =>
    el(head && i === 0 ? 'th' : 'td', { class: numeric[i] ? 'n' : columns[i][2], scope: head && i === 0 ? 'row' : null }, cell));
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    el('table', {}, el('caption', { class: 'off' }, caption),
      el('thead', {}, el('tr', {}, columns.map(column => el('th', { scope: 'col', class: column[1] ? 'n' : null }, column[0])))),
      el('tbody', {}, rows.map(row => el('tr', {}, cells(row, true)))),
      foot ? el('tfoot', {}, el('tr', {}, cells(foot, true))) : null));
}

function section(id, title, lead) {
  const made = el('section', { id, 'aria-labelledby': id + '-title' }, el('h2', { id: id + '-title' }, title),
    lead ? el('p', { class: 'lead' }, lead) : null);
  document.getElementById('main').append(made);
  document.getElementById('sections').append(el('li', {}, el('a', { href: '#' + id }, title)));
  return made;
}

function legend(entries) {
  return el('ul', { class: 'legend' }, entries.map(([colour, text, value]) =>
    el('li', {}, el('i', { style: { background: colour }, 'aria-hidden': 'true' }), text, value ? ' ' : null, value || null)));
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const KINDS = { compute: 'compute', links: 'link', l1: 'l1', l2: 'l1', l3: 'l3', dram: 'l3' };
const kindColour = kind => 'var(--' + (KINDS[kind] || 'l3') + ')';
const CONTENTS = { weight: 'compute', 'fetched weight': 'l3', state: 'state', 'fetched state': 'state', activation: 'activation',
  input: 'io', output: 'io', load: 'compute', store: 'link', scratch: 'wait', weights: 'compute', states: 'state',
  activations: 'activation', KV: 'state', tables: 'compute', tiles: 'activation', 'weight buffers': 'l3' };
const contentName = content => CONTENTS[content] || 'io';

/* Charts are drawn again when the theme or the width changes. */
const charts = [];
function chart(host, height, label, options, wire) {
  const box = el('div', { class: 'chart', style: { height: height + 'px' }, role: 'img', 'aria-label': label });
  host.append(box);
  const made = echarts.init(box, null, { renderer: 'canvas' });
  const draw = keep => made.setOption({ animation: false, textStyle: { fontFamily: 'inherit' }, ...options(keep ? made.getOption() : null) }, { notMerge: true });
  draw(false);
  charts.push({ draw: () => draw(true), resize: () => made.resize() });
  if (wire) wire(made, box);
  return { made, box, draw: () => draw(true) };
}
const axisStyle = () => ({ axisLine: { lineStyle: { color: colour('line') } }, axisLabel: { color: colour('soft'), fontSize: 11 },
  splitLine: { lineStyle: { color: colour('line'), opacity: 0.6 } }, nameTextStyle: { color: colour('soft') } });

const tip = document.getElementById('tip');
function showTip(event, lines) {
  tip.replaceChildren(...lines.map((line, i) => el(i === 0 ? 'b' : 'div', {}, line)));
  tip.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const y = event.clientY + tip.offsetHeight + 22 > innerHeight ? event.clientY - tip.offsetHeight - 12 : event.clientY + 16;
  tip.style.left = Math.max(8, x) + 'px';
  tip.style.top = Math.max(8, y) + 'px';
}
function hideTip() { tip.hidden = true; }
/* Shows lines for the item under the pointer. */
function hover(made, lines) {
  made.on('mousemove', item => { const text = lines(item); if (text) showTip(item.event.event, text); else hideTip(); });
  made.on('mouseout', hideTip);
  made.getZr().on('globalout', hideTip);
}
