import express from 'express';
import { createGateway } from 'sightline/gateway';

/**
 * An Express app of your own with Sightline's endpoint, sign-in and pages in it.
 * PORT is where it listens, DATA where the workspace is kept.
 */
const port = Number(process.env['PORT'] ?? 3000);
const publicUrl = process.env['PUBLIC_URL'] ?? `http://127.0.0.1:${port}`;

const gateway = await createGateway({
  config: { publicUrl, dataDirectory: process.env['DATA'] ?? '.sightline' },
});
const sightline = await gateway.attach();

const app = express();
app.get('/hello', (_request, response) => response.send('Hello from your own app.'));
// Ahead of any body parser: Sightline reads and bounds its own bodies. It answers 404 for what it does not know.
app.use(sightline);

const server = app.listen(port, '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => void gateway.stop());
  server.closeIdleConnections();
});
