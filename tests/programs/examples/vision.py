"""Programs in the manner of PyTorch's public examples, part one: images.

A classifier of digits, generative networks, an autoencoder, super-resolution, image pairs.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from common import array, digest, fill, integers
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    """Two convolutions and two linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout(0.0)
        self.fc1 = nn.Linear(16 * 5 * 5, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def mnist():
    """Trains a classifier over a loader with Adadelta and a schedule, then tests it."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(array("digits", 48, 1, 14, 14), integers("labels", 10, 48))
    loader = DataLoader(data, batch_size=16, shuffle=False, num_workers=0, pin_memory=False)
    model = fill(DigitNet()).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    losses = []
    for _ in range(2):
        model.train()
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    model.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            output = model(x)
            total += F.nll_loss(output, y, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(y.view_as(pred)).sum().item()
    state = model.state_dict()
    return {
        "losses": losses,
        "test": total,
        "correct": correct,
        "rate": scheduler.get_last_lr(),
        "keys": list(state),
        "weight": digest(state["fc2.weight"]),
    }


class Generator(nn.Module):
    """Noise to images."""

    def __init__(self, nz=16, ngf=8):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.main(x)


class Discriminator(nn.Module):
    """Images to a probability."""

    def __init__(self, ndf=8):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1, 1).squeeze(1)


def dcgan():
    """Trains both networks of a generative adversarial pair for three steps."""
    generator, discriminator = fill(Generator()), fill(Discriminator())
    criterion = nn.BCELoss()
    optimizer_d = optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizer_g = optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    history = []
    for i in range(3):
        discriminator.zero_grad()
        real = array(f"real{i}", 8, 1, 16, 16)
        label = torch.full((8,), 1.0)
        loss_real = criterion(discriminator(real), label)
        loss_real.backward()
        fake = generator(array(f"noise{i}", 8, 16, 1, 1))
        label.fill_(0.0)
        loss_fake = criterion(discriminator(fake.detach()), label)
        loss_fake.backward()
        optimizer_d.step()
        generator.zero_grad()
        label.fill_(1.0)
        loss_g = criterion(discriminator(fake), label)
        loss_g.backward()
        optimizer_g.step()
        history.append([loss_real.item(), loss_fake.item(), loss_g.item()])
    generator.eval()
    return {
        "losses": history,
        "image": digest(generator(array("fixed", 2, 16, 1, 1))),
        "mean": digest(generator.main[1].running_mean),
    }


class VAE(nn.Module):
    """A variational autoencoder; the noise is given, so that it is the same everywhere."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21 = nn.Linear(32, 6)
        self.fc22 = nn.Linear(32, 6)
        self.fc3 = nn.Linear(6, 32)
        self.fc4 = nn.Linear(32, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def forward(self, x, noise):
        mu, logvar = self.encode(x.view(-1, 64))
        z = mu + noise * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


def vae():
    """Trains the autoencoder on reconstruction and divergence."""
    model = fill(VAE())
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for i in range(3):
        x = torch.sigmoid(array(f"images{i}", 12, 1, 8, 8))
        optimizer.zero_grad()
        recon, mu, logvar = model(x, array(f"noise{i}", 12, 6))
        bce = F.binary_cross_entropy(recon, x.view(-1, 64), reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = bce + kld
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "recon": digest(recon), "mu": digest(mu)}


class SuperResolution(nn.Module):
    """Convolutions and a pixel shuffle."""

    def __init__(self, factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 8, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(8, factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(factor)
        nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        return self.pixel_shuffle(self.conv3(x))


def super_resolution():
    """Trains on the mean square, reports the signal-to-noise ratio, saves and loads the model."""
    import io

    model = fill(SuperResolution(3))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    x, y = array("small", 4, 1, 8, 8), array("large", 4, 1, 24, 24)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    again = SuperResolution(3)
    missing = again.load_state_dict(torch.load(file, weights_only=True))
    psnr = 10 * torch.log10(1 / nn.functional.mse_loss(again(x), y))
    return {"losses": losses, "psnr": psnr.item(), "keys": str(missing), "out": digest(again(x))}


class Siamese(nn.Module):
    """One encoder for two images, and a head over both codes."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 6, 3, stride=2, bias=False), nn.ReLU(inplace=True), nn.MaxPool2d(2)
        )
        self.fc = nn.Sequential(
            nn.Linear(2 * 54, 16), nn.ReLU(inplace=True), nn.Linear(16, 1)
        )
        self.sigmoid = nn.Sigmoid()
        self.encoder.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        output = self.encoder(x)
        return output.view(output.size()[0], -1)

    def forward(self, a, b):
        joint = torch.cat((self.forward_once(a), self.forward_once(b)), 1)
        return self.sigmoid(self.fc(joint))


def siamese():
    """Trains on pairs with Adadelta."""
    model = fill(Siamese())
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    criterion = nn.BCELoss()
    losses = []
    for i in range(3):
        a, b = array(f"a{i}", 10, 1, 15, 15), array(f"b{i}", 10, 1, 15, 15)
        target = integers(f"same{i}", 2, 10).float()
        optimizer.zero_grad()
        outputs = model(a, b).squeeze()
        loss = criterion(outputs, target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    right = (model(a, b).squeeze() > 0.5).float().eq(target).sum().item()
    return {"losses": losses, "right": right, "weights": digest(model.fc[0].weight)}


class ResidualBlock(nn.Module):
    """Two padded convolutions with instance norms, as networks for styles have."""

    def __init__(self, channels):
        super().__init__()
        self.pad = nn.ReflectionPad2d(1)
        self.conv1 = nn.Conv2d(channels, channels, 3)
        self.in1 = nn.InstanceNorm2d(channels, affine=True)
        self.conv2 = nn.Conv2d(channels, channels, 3)
        self.in2 = nn.InstanceNorm2d(channels, affine=True)

    def forward(self, x):
        out = F.relu(self.in1(self.conv1(self.pad(x))))
        return self.in2(self.conv2(self.pad(out))) + x


def neural_style():
    """Trains a small image transformer on Gram matrices and content."""
    model = fill(
        nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), ResidualBlock(8), ResidualBlock(8),
                      nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(8, 3, 3, padding=1))
    )  # fmt: skip
    x, style = array("content", 2, 3, 10, 10), array("style", 2, 3, 20, 20)

    def gram(y):
        b, c, h, w = y.size()
        features = y.view(b, c, w * h)
        return features.bmm(features.transpose(1, 2)) / (c * h * w)

    optimizer = optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        y = model(x)
        content = F.mse_loss(F.avg_pool2d(y, 2), x)
        loss = 5 * F.mse_loss(gram(y), gram(style)) + content
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "out": digest(y)}


PROGRAMS = {
    "mnist": mnist,
    "dcgan": dcgan,
    "vae": vae,
    "super_resolution": super_resolution,
    "siamese": siamese,
    "neural_style": neural_style,
}
