/**
 * The import law (docs/architecture.md): which folder may know which. Each rule names a folder and everything it may import beside itself;
 * the contracts (types, and the errors that belong to them) may be imported from anywhere.
 */
const contracts =
  '^src/(problems/(problem|hidden-tests)|grading/verdict|models/model|sandbox/sandbox|spec/spec|store/store|activities/contract)\\.ts$';

const law = {
  'python-syntax': [],
  problems: ['python-syntax'],
  agents: ['problems', 'python-syntax'],
  statistics: [],
  selection: ['statistics', 'python-syntax'],
  spec: ['problems', 'agents', 'models', 'selection'],
  sandbox: [],
  grading: ['problems', 'sandbox', 'statistics'],
  evaluation: ['problems', 'sandbox', 'grading', 'statistics', 'reports'],
  store: ['statistics'],
  temporal: [],
  setup: ['sandbox', 'grading', 'evaluation', 'temporal', 'models', 'problems', 'store'],
  reports: ['store', 'statistics', 'selection'],
};

const runtimeLaw = Object.entries(law).map(([folder, allowed]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import ${allowed.length === 0 ? 'nothing of ours' : allowed.map((name) => `src/${name}`).join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: '^src/',
    pathNot: [contracts, ...[folder, ...allowed].map((name) => `^src/${name}/`)],
  },
}));

module.exports = {
  forbidden: [
    ...runtimeLaw,
    {
      name: 'models-imports',
      comment:
        'the model client knows nothing of the product; only the scripted model reads roles and the mini problems',
      severity: 'error',
      from: { path: '^src/models/', pathNot: ['^src/models/scripted/', '\\.test\\.ts$'] },
      to: { path: '^src/', pathNot: [contracts, '^src/models/'] },
    },
    {
      name: 'scripted-model-imports',
      severity: 'error',
      from: { path: '^src/models/scripted/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: [contracts, '^src/models/', '^src/agents/roles\\.ts$', '^src/problems/mini/'] },
    },
    {
      name: 'workflows-are-pure',
      comment:
        'workflow code is replayed: no I/O, no zod, no Node built-in, no activity code; types may come from anywhere',
      severity: 'error',
      from: { path: '^src/workflows/', pathNot: '\\.test\\.ts$' },
      to: {
        path: ['^src/', '^node:', 'zod', 'node_modules'],
        pathNot: [
          contracts,
          '^src/workflows/',
          '^src/temporal/(ids|problem-start|search-attributes|summary)\\.ts$',
          '^node_modules/@temporalio/(workflow|common)/',
        ],
      },
    },
    {
      name: 'hidden-tests-are-sealed',
      comment: 'only grading, the activity that scores, and lint may see hidden tests',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/problems/',
          '^src/grading/',
          '^src/evaluation/',
          '^src/activities/(dependencies|worker-process|datasets)\\.ts$',
          '^src/cli/',
          '^src/setup/',
          '\\.test\\.ts$',
        ],
      },
      to: { path: '^src/problems/(hidden|dataset|lint|task-record|readers/)', pathNot: contracts },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-to-tests',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|^(test|bench)/' },
      to: { path: '\\.test\\.ts$|^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
    exclude: { path: 'dist|\\.qualityflow' },
  },
};
