'use strict';

const fs = require('node:fs/promises');

// saveAll writes each text to its file.
async function saveAll(files) {
  Object.entries(files).forEach(async ([path, text]) => {
    await fs.writeFile(path, text);
  });
}

module.exports = { saveAll };
