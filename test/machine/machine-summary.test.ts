import type { SystemSpec } from '../../src/core/profile/system-spec.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { machineSummary } from '../../src/machine/machine-summary.ts'

const rich: SystemSpec = {
  os: { name: 'Ubuntu', version: '22.04', arch: 'arm64' },
  shell: { type: 'zsh', version: '5.9' },
  runtimes: {
    node: { version: '24.1.0', npm: '11.0.0' },
    python: { version: '3.11.2', pip: true, venv: false },
    go: {},
  },
  binaries: Object.fromEntries(
    ['zsh', 'pandoc', 'git', 'curl', 'docker'].map((name) => [name, { path: `/x/${name}` }]),
  ),
  packageManagers: ['snap', 'apt'],
  sudoAvailable: false,
  network: { hasInternet: true, proxy: 'http://proxy:1' },
}

test('a prompt is told of the machine and of the ways to think in few words', () => {
  const words = machineSummary(rich)
  assert.equal(
    words,
    `## System Capabilities
System: Ubuntu 22.04 (arm64), zsh 5.9
Runtimes: go, node 24.1.0 (npm 11.0.0), python 3.11.2 (pip, no venv)
Programs: docker, pandoc
Not installed: ffmpeg, google-chrome, libreoffice, make, perl, wget
Package managers: apt, snap
Network: yes, proxy http://proxy:1

## Available Frameworks
direct, consensus, sequential, decompose, reflect, script`,
  )
  assert.ok(Buffer.byteLength(words) < 600)
})

test('the same machine is told in the same bytes, whatever order it was scanned in', () => {
  const turned = {
    ...rich,
    binaries: Object.fromEntries(Object.entries(rich.binaries).reverse()),
    packageManagers: [...rich.packageManagers].reverse(),
  }
  assert.equal(machineSummary(turned), machineSummary(rich))
})

test('a machine with nothing says so', () => {
  const bare: SystemSpec = {
    os: { name: 'Alpine Linux', arch: 'x64' },
    shell: { type: 'sh' },
    runtimes: {},
    binaries: {},
    packageManagers: [],
    sudoAvailable: true,
    network: { hasInternet: false },
  }
  assert.equal(
    machineSummary(bare).split('\n\n')[0],
    `## System Capabilities
System: Alpine Linux (x64), sh
Runtimes: none
Programs: none
Not installed: curl, docker, ffmpeg, git, google-chrome, libreoffice, make, pandoc, perl, python, wget
Package managers: none
Root: without a password
Network: no`,
  )
})
