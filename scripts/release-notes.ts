// Prints the part of the changelog about a version: `node scripts/release-notes.ts v0.2.0`. Fails where the package has another
// version, or the changelog says nothing about it, so that no release is made by mistake.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const version = (process.argv[2] ?? '').replace(/^v/, '')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
if (manifest.version !== version) fail(`package.json has the version ${manifest.version}, not ${version || 'none'}`)
const parts = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
const notes = parts.find((part) => part.split(/\s/)[0] === version)
if (!notes) fail(`CHANGELOG.md has no part "## ${version}"`)
process.stdout.write(`${notes.slice(notes.indexOf('\n')).trim()}\n`)

function fail(why: string): never {
  console.error(`release-notes: ${why}`)
  process.exit(1)
}
