#!/usr/bin/env node
// Old syntax and CommonJS on purpose: an older Node can read this far and say one clear sentence, and a start costs less.
var version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 19)) {
  process.stderr.write(
    'termaite needs Node.js 22.19 or newer, and this is ' +
      process.versions.node +
      '. Install a newer one from nodejs.org and run it again.\n',
  )
  process.exit(2)
}
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-v')) {
  process.stdout.on('error', function (error) {
    if (error.code === 'EPIPE') return
    process.stderr.write('termaite: the output could not be written: ' + error.message + '\n')
    process.exitCode = 1
  })
  process.stdout.write(require('../package.json').version + '\n')
} else {
  // The cache is the difference between reading our code once and at every start.
  require('node:module').enableCompileCache()
  import('../dist/main.js')
}
