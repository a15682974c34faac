/** Loads Node's child processes with the first one that is started: it takes several milliseconds, and many commands start none. */
export const childProcesses = () => process.getBuiltinModule('node:child_process')
