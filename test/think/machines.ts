import type { SystemSpec } from '../../src/core/profile/system-spec.ts'

const installed = (...names: string[]): SystemSpec['binaries'] =>
  Object.fromEntries(names.map((name) => [name, { path: `/usr/bin/${name}` }]))

const bare: SystemSpec = {
  os: { name: 'Debian GNU/Linux', version: '12', arch: 'x64' },
  shell: { type: 'bash', version: '5.2.15' },
  runtimes: { node: { version: '24.1.0', npm: '11.0.0' }, python: { version: '3.11.2', pip: true, venv: true } },
  binaries: installed('bash', 'curl', 'git'),
  packageManagers: ['apt'],
  sudoAvailable: false,
  network: { hasInternet: true },
}

/** Machines on which the same request has different answers. */
export const machines = {
  /** A Debian with python and nothing for documents. */
  bare,
  tex: { ...bare, binaries: { ...bare.binaries, ...installed('pandoc', 'pdflatex') } },
  office: { ...bare, binaries: { ...bare.binaries, ...installed('libreoffice') } },
  /** No runtime, no program, no way out. */
  nothing: {
    ...bare,
    shell: { type: 'sh' },
    runtimes: {},
    binaries: {},
    packageManagers: [],
    network: { hasInternet: false },
  },
} satisfies Record<string, SystemSpec>
