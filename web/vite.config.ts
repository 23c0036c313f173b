import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Nothing is inlined: the policy of the pages takes scripts, styles and fonts from files of this server alone.
export default defineConfig({
    plugins: [react()],
    build: {
        target: 'es2022',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1200,
        reportCompressedSize: false,
    },
    worker: { format: 'es' },
});
