import type { SystemSpec } from '../../../src/core/profile/system-spec.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { parseNeed, neededPrograms } from '../../../src/think/consensus/machine-fit.ts'
import { isSameApproach } from '../../../src/think/consensus/advisors.ts'
import { machineFit } from '../../../src/think/consensus/machine-fit.ts'
import { machines } from '../machines.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const { bare, office, nothing } = machines
const root: SystemSpec = { ...bare, sudoAvailable: true }
const offline: SystemSpec = { ...bare, network: { hasInternet: false } }
const mac: SystemSpec = { ...bare, os: { name: 'macOS', version: '14.2', arch: 'arm64' }, packageManagers: ['brew'] }
const noPip: SystemSpec = { ...bare, runtimes: { python: { version: '3.11.2', pip: false, venv: false } } }
const venv: SystemSpec = { ...bare, runtimes: { python: { version: '3.11.2', pip: false, venv: true } } }

const fit = (spec: SystemSpec, needs: string[], ...found: string[]) => {
  const { missing, installs } = machineFit(needs, { spec, found: new Set(found) })
  return [missing, installs]
}

const met: [machine: string, spec: SystemSpec, needs: string[], found?: string[]][] = [
  ['nothing is needed', nothing, []],
  [
    'programs by their other names',
    office,
    ['LibreOffice', 'soffice', 'bash', 'git', 'python3', 'nodejs', 'npx', 'pip3', 'apt'],
  ],
  ['a version that is enough', bare, ['python>=3.9', 'node 24', 'node@v22', 'python 3.11+']],
  ['a version that nobody knows', office, ['libreoffice>=7']],
  ['a program that the scan does not look for and somebody found', nothing, ['sed', 'unoconv'], ['sed', 'unoconv']],
  ['a package of the system whose program is there', office, ['apt:libreoffice']],
  ['the network and the system', bare, ['network', 'Internet', 'Linux']],
  ['root', root, ['root', 'sudo']],
  ['words that only a person could check', nothing, ['a printer with paper', '', 'API_KEY', 'constructor of things']],
]
for (const [name, spec, needs, found = []] of met)
  test(`viable: ${name}`, () => assert.deepEqual(fit(spec, needs, ...found), [[], []]))

const installed: [string, SystemSpec, string[], string[]][] = [
  ['by a package manager with root', root, ['pandoc', 'latex'], ['pandoc with apt', 'pdflatex with apt']],
  ['by one that needs no root', mac, ['pandoc'], ['pandoc with brew']],
  [
    'a package of the language',
    bare,
    ['pip:python-docx', 'npm:express@5'],
    ['python-docx with pip', 'express@5 with npm'],
  ],
  ['with the pip of a new environment', venv, ['pip:requests'], ['requests with pip']],
  ['a package of another system, by what is there', mac, ['apt:pandoc'], ['pandoc with brew']],
]
for (const [name, spec, needs, installs] of installed)
  test(`viable after an installation: ${name}`, () => assert.deepEqual(fit(spec, needs), [[], installs]))

const missing: [string, SystemSpec, string[]][] = [
  ['without root', bare, ['pandoc', 'latex']],
  ['without a network', { ...root, network: offline.network }, ['pandoc']],
  ['without a package manager', nothing, ['pandoc', 'constructor']],
  ['a package without a network', offline, ['pip:python-docx']],
  ['a package without what fetches it', noPip, ['pip:x', 'npm:y']],
  ['a runtime that is too old', bare, ['python>=3.12', 'node 25.0']],
  ['the network, root and another system', offline, ['Internet access', 'sudo rights', 'windows']],
]
for (const [name, spec, needs] of missing) test(`not viable: ${name}`, (t) => golden(t, fit(spec, needs)))

test('neededPrograms() lists the programs to look for before one is called missing', () => {
  assert.deepEqual(
    neededPrograms(['Unoconv', 'chrome', 'apt:texlive', 'network', 'some words', 'unoconv>=2', 'npm:@a/b']),
    ['unoconv', 'google-chrome', 'chromium', 'apt', 'pdflatex', 'npm'],
  )
  assert.deepEqual(parseNeed('some words'), undefined)
})

test('two names mean the same when one has all the words of the other', () => {
  const pairs: [string, string, boolean][] = [
    ['LibreOffice', 'libreoffice --headless', true],
    ['C++', 'c', false],
    ['pandoc', 'wkhtmltopdf', false],
    ['!', 'pandoc', false],
    ['', '', false],
  ]
  assert.deepEqual(
    pairs.map(([a, b]) => isSameApproach(a, b)),
    pairs.map(([, , same]) => same),
  )
})
