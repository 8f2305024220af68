// SPDX-License-Identifier: Apache-2.0
// What the pages of Cameo have in common. A page has `state`, with what is sorted by and whether
// all rows are wanted, and `draw`.

// More rows than these are drawn when they are asked for.
const MANY = 1000;

/// An element with text and children; names of nodes never become markup.
function make(tag, attributes, ...children) {
  const svg = [ 'svg', 'rect', 'line', 'text', 'title', 'desc', 'polyline', 'path' ].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag)
                      : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    element.setAttribute(name, value);
  element.append(...children.map(child => child instanceof Node ? child : String(child)));
  return element;
}
function fill(id, ...children) { document.getElementById(id).replaceChildren(...children); }
function scaled(number, unit) {
  if (number === undefined || number === null)
    return '';
  const steps = [ '', 'k', 'M', 'G', 'T', 'P' ];
  let step = 0, value = number;
  for (; value >= 1000 && step < steps.length - 1; ++step)
    value /= 1000;
  return (step ? value.toPrecision(3) : value) + ' ' + steps[step] + unit;
}
/// Of an estimate; nothing where there is none.
function timeText(estimate) {
  if (!estimate)
    return '';
  const time = estimate.microseconds;
  return time < 1000 ? `${time.toFixed(1)} µs` : `${(time / 1000).toFixed(2)} ms`;
}
const bytes = number => scaled(number, 'B');
const list = names => (names || []).join(', ');
const sum = (objects, name) => objects.reduce((total, each) => total + (each[name] || 0), 0);

/// Columns: {title, of(row) -> text or Node, number, code, short, key}; a key is one to sort by.
function table(columns, rows, caption, sorted) {
  const head = make('tr');
  for (const column of columns) {
    const cell = make('th', {scope : 'col', class : column.number ? 'number' : ''});
    if (sorted && column.key) {
      const button = make('button', {type : 'button'}, column.title);
      button.addEventListener('click', () => sorted(column.key));
      cell.append(button);
      if (state.sort === column.key)
        cell.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending');
    } else {
      cell.append(column.title);
    }
    head.append(cell);
  }
  const body = make('tbody');
  const limit = state.all ? rows.length : Math.min(rows.length, MANY);
  for (const row of rows.slice(0, limit)) {
    const line = make('tr');
    for (const column of columns)
      line.append(make(
          'td',
          {class : column.number  ? 'number'
                   : column.code  ? 'code'
                   : column.short ? 'short'
                                  : ''},
          column.of(row)));
    body.append(line);
  }
  const parts = [ make('table', {}, make('caption', {class : 'soft'}, caption),
                       make('thead', {}, head), body) ];
  if (limit < rows.length) {
    const more = make('button', {type : 'button', class : 'more'}, `Show all ${rows.length}`);
    more.addEventListener('click', () => {
      state.all = true;
      draw();
    });
    parts.push(more);
  }
  return make('div', {class : 'scroll'}, ...parts);
}

function sortRows(rows) {
  if (!state.sort)
    return;
  const key = row => row[state.sort] ?? '';
  rows.sort((a, b) => typeof key(a) === 'number' && typeof key(b) === 'number'
                          ? key(a) - key(b)
                          : String(key(a)).localeCompare(String(key(b))));
  if (state.descending)
    rows.reverse();
}
function sortBy(key) {
  state.descending = state.sort === key && !state.descending;
  state.sort = key;
  draw();
}

/// How often which magnitudes occur: quarters of octaves to the right, counts upwards, by their
/// logarithms; thresholds as lines.
function histogramPicture(value) {
  const {end, counts} = value.histogram, height = 60, steps = 4;
  const most = Math.log1p(Math.max(...counts));
  const start = end - (counts.length - 1) / steps;
  const place = magnitude => {
    const octave = Math.floor(Math.log2(magnitude));
    const at = 1 + steps * (octave - start + magnitude / 2 ** octave - 1);
    return Math.min(Math.max(at, 0), counts.length);
  };
  const picture = make('svg', {
    class : 'histogram',
    viewBox : `0 0 ${counts.length * 5} ${height}`,
    preserveAspectRatio : 'none',
    role : 'img'
  });
  const bars = counts.map((count, i) => `M${5 * i} ${height}v${
                              - (height * Math.log1p(count) / (most || 1)).toFixed(1)}h5V${height}`);
  const methods = Object.entries(value.thresholds);
  picture.append(
      make('title', {}, `${value.name}: magnitudes up to ${2 ** end}; ` +
                            methods.map(([ name, at ]) => `${name} ${at.toPrecision(3)}`).join(', ')),
      make('path', {class : 'bins', d : bars.join('')}));
  for (const [name, at] of methods) {
    const x = 5 * place(at);
    picture.append(make('line', {
      class : name === value.method ? 'threshold chosen' : 'threshold',
      'data-method' : name,
      x1 : x,
      x2 : x,
      y1 : 0,
      y2 : height
    }));
  }
  return picture;
}

/// What calibration has found; nothing of a model that was not calibrated.
function drawCalibration(id, calibration) {
  if (!calibration) {
    fill(id, make('p', {}, 'No value was calibrated by this compiler.'));
    return;
  }
  const threshold = row => row.thresholds[row.method];
  const chosen = calibration.chosen;
  const trials = chosen && table(
      [
        {title : 'INT8 by', of : row => row.quantization + (row.chosen ? ' (chosen)' : '')},
        {title : 'Signal over noise, dB', number : true, of : row => row.sqnr.toFixed(1)}
      ],
      chosen.trials, `Outputs beside those of FP32, on ${chosen.samples} samples`);
  fill(id, ...(trials ? [ trials ] : []), table(
               [
                 {title : 'Value', of : row => row.name},
                 {title : 'From', number : true, of : row => row.min.toPrecision(3)},
                 {title : 'To', number : true, of : row => row.max.toPrecision(3)},
                 {title : 'Method', short : true, of : row => row.method}, {
                   title : 'Threshold',
                   number : true,
                   of : row => threshold(row)?.toPrecision(3) ?? ''
                 },
                 {
                   title : 'Others',
                   of : row => Object.entries(row.thresholds)
                                   .filter(([ name ]) => name !== row.method)
                                   .map(([ name, at ]) => `${name} ${at.toPrecision(3)}`)
                                   .join(', ')
                 },
                 {
                   title : 'Magnitudes',
                   of : row => row.histogram ? histogramPicture(row) : ''
                 }
               ],
               calibration.values,
               `${calibration.samples} samples of ${calibration.data}, by ${calibration.method}. ` +
                   'Magnitudes: a bar a quarter of an octave, as high as the logarithm of its ' +
                   'count, the first for all that is smaller; the line is the threshold, what ' +
                   'exceeds it by more than 6 % is clipped; broken lines are those of other methods'));
}
