/** What the machine can do, so that nobody tries what it cannot. What was not found out is left out. */
export type SystemSpec = {
  /** The distribution, not the kernel. */
  os: { name: string; version?: string; arch: string }
  /** The person's own. */
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
  /** Whether something can be done as root without anybody being asked. */
  sudoAvailable: boolean
  /** `hasInternet`: there is a way out; nobody was called to see whether it leads there. */
  network: { hasInternet: boolean; proxy?: string }
}

export type Runtime = keyof SystemSpec['runtimes']
