'use strict';

const { timeoutSeconds } = require('./settings.json');

// ask calls request with a signal that gives it up after the timeout of the settings.
async function ask(request) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutSeconds);
  try {
    return await request(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

module.exports = { ask };
