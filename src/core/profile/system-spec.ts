/** The facts about this machine for agents, so that they do not try what the machine cannot do. Unknown facts are left out. */
export type SystemSpec = {
  /** The distribution, not the kernel. */
  os: { name: string; version?: string; arch: string }
  /** The person's login shell. */
  shell: { type: string; version?: string }
  runtimes: {
    node?: { version?: string; npm?: string }
    python?: { version?: string; pip?: boolean; venv?: boolean }
    ruby?: { version?: string }
    go?: { version?: string }
    rust?: { version?: string }
  }
  binaries: Record<string, { path: string; version?: string }>
  packageManagers: string[]
  /** Whether commands can run as root without a password. */
  sudoAvailable: boolean
  /** `hasInternet`: the system has a route to other networks; no server was contacted to verify it. */
  network: { hasInternet: boolean; proxy?: string }
}

export type Runtime = keyof SystemSpec['runtimes']
