import fc from 'fast-check'

// The test runner hands in a seed, so that every run of one commit tries the same cases and a failure comes again; the next commit
// tries others. Without a seed, and with `FULL=1`, each run tries its own.
const seed = process.env.CASES_SEED
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })

export default fc
