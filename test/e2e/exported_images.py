"""Networks of images, in torch: detectors, windows of attention, diffusion."""
# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torchvision
from torch import Tensor, nn
from torch.nn import functional

from export_torchvision import calibrate
from exported_shared import Network, normal

SAMPLES = 8  # images that batch norms have their statistics of


def calibrated(random, sizes, made, size=64):
    calibrate(made.module, normal(random, SAMPLES, 3, size, size))
    return made


# --- DETR

class Detr(nn.Module):
    """ResNet-50, six layers of nn.Transformer on each side, and a hundred queries."""

    def __init__(self, classes=91, width=256, heads=8, queries=100, most=50):
        super().__init__()
        self.backbone = nn.Sequential(*list(torchvision.models.resnet50(weights=None).children())[:-2])
        self.project = nn.Conv2d(2048, width, 1)
        self.transformer = nn.Transformer(width, heads, 6, 6, batch_first=True)
        self.classes, self.boxes = nn.Linear(width, classes + 1), nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
        self.queries = nn.Parameter(torch.zeros(queries, width))
        self.rows, self.columns = (nn.Parameter(torch.zeros(most, width // 2)) for _ in range(2))

    def forward(self, image):
        x = self.project(self.backbone(image))
        batch, width, high, wide = x.shape
        places = torch.cat([self.columns[:wide].unsqueeze(0).expand(high, wide, width // 2),
                            self.rows[:high].unsqueeze(1).expand(high, wide, width // 2)], -1).flatten(0, 1)
        seen = self.transformer(x.flatten(2).transpose(1, 2) + places,
                                self.queries.unsqueeze(0).expand(batch, -1, -1))
        return self.classes(seen), self.boxes(seen).sigmoid()


def detr(random):
    made = Network.filled(random, Detr(), lambda batch, high, wide: {"image": normal(random, batch, 3, high, wide)},
                          [(1, 64, 96), (2, 64, 64), (1, 128, 160)], {"image": {0: "batch", 2: "high", 3: "wide"}},
                          ("logits", "boxes"))
    return calibrated(random, 64, made)


# --- torchvision's

def swin(random):
    return Network.filled(random, torchvision.models.swin_t(weights=None),
                          lambda batch: {"image": normal(random, batch, 3, 64, 64)}, [(1,), (3,), (2,)],
                          {"image": ("batch",)}, ("logits",))


class Detector(nn.Module):
    """One image in, a list of one dict out: what is found in it, one output each."""

    def __init__(self, network, names):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, image):
        found = self.network([image])
        found = found[1] if self.network.training else found
        return tuple(found[0][name] for name in self.names)


# Deviations that outputs of last layers get: scores differ, and boxes stay near where they are looked for.
LAST = {"cls_logits": 1.0, "cls_score": 1.5, "bbox": 0.3, "kps_score": 1.0, "mask_fcn_logits": 1.0}


def temper(network, images):
    """A layer that is called for several maps has one deviation over all of them."""
    outputs = {}

    def keep(module, _, output):
        outputs.setdefault(module, []).append(output.flatten())
    last = {module: deviation for name, module in network.named_modules() for part, deviation in LAST.items()
            if part in name.split(".")[-1] and hasattr(module, "weight")}
    hooks = [module.register_forward_hook(keep) for module in last]
    network(images)
    for hook in hooks:
        hook.remove()
    for module, deviation in last.items():
        module.weight.mul_(deviation / torch.cat(outputs[module]).std())


def detector(function, names, sizes=((3, 64, 96), (3, 80, 64), (3, 96, 128)), **arguments):
    def make(random):
        network = function(weights=None, weights_backbone=None, **arguments)
        made = Network.filled(random, Detector(network, names),
                              lambda *size: {"image": torch.rand(*size, generator=random)},
                              list(sizes), {"image": {1: "high", 2: "wide"}, **{name: ("found",) for name in names}},
                              tuple(names))
        images = list(torch.rand(2, 3, 128, 128, generator=random))
        calibrate(network.eval(), images)
        temper(network, images)
        return made
    return make


SMALL = {"min_size": 64, "max_size": 160}
BOXES = ("boxes", "labels", "scores")
models = torchvision.models.detection
faster_rcnn = detector(models.fasterrcnn_resnet50_fpn, BOXES, **SMALL)
FEW = {"box_detections_per_img": 20}  # each of which goes through convolutions of its own
mask_rcnn = detector(models.maskrcnn_resnet50_fpn, (*BOXES, "masks"), **SMALL, **FEW)
keypoint_rcnn = detector(models.keypointrcnn_resnet50_fpn, (*BOXES, "keypoints", "keypoints_scores"), **SMALL, **FEW)
retinanet = detector(models.retinanet_resnet50_fpn, BOXES, **SMALL)
fcos = detector(models.fcos_resnet50_fpn, BOXES, **SMALL)
ssd = detector(models.ssdlite320_mobilenet_v3_large, BOXES)


# --- YOLO

class ConvUnit(nn.Module):
    def __init__(self, read, written, size=1, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(read, written, size, stride, size // 2, bias=False)
        self.norm = nn.BatchNorm2d(written, eps=1e-3)

    def forward(self, x):
        return functional.silu(self.norm(self.conv(x)))


class CrossStage(nn.Module):
    def __init__(self, read, written, depth, added=True):
        super().__init__()
        half = written // 2
        self.left, self.right, self.out = ConvUnit(read, half), ConvUnit(read, half), ConvUnit(written, written)
        self.steps = nn.ModuleList(nn.Sequential(ConvUnit(half, half), ConvUnit(half, half, 3)) for _ in range(depth))
        self.added = added

    def forward(self, x):
        left = self.left(x)
        for step in self.steps:
            left = left + step(left) if self.added else step(left)
        return self.out(torch.cat([left, self.right(x)], 1))


class Yolo(nn.Module):
    """YOLOv5s with what comes behind it: boxes above a threshold, those of each class that overlap less than half."""
    STRIDES = (8, 16, 32)

    def __init__(self, classes=80, anchors=3, threshold=0.25, most=300):
        super().__init__()
        self.stem = ConvUnit(3, 32, 6, 2)
        self.stem.conv.padding = (2, 2)
        self.down1, self.stage1 = ConvUnit(32, 64, 3, 2), CrossStage(64, 64, 1)
        self.down2, self.stage2 = ConvUnit(64, 128, 3, 2), CrossStage(128, 128, 2)
        self.down3, self.stage3 = ConvUnit(128, 256, 3, 2), CrossStage(256, 256, 3)
        self.down4, self.stage4 = ConvUnit(256, 512, 3, 2), CrossStage(512, 512, 1)
        self.pool1, self.pool2 = ConvUnit(512, 256), ConvUnit(1024, 512)
        self.side1, self.up1 = ConvUnit(512, 256), CrossStage(512, 256, 1, False)
        self.side2, self.up2 = ConvUnit(256, 128), CrossStage(256, 128, 1, False)
        self.back1, self.low1 = ConvUnit(128, 128, 3, 2), CrossStage(256, 256, 1, False)
        self.back2, self.low2 = ConvUnit(256, 256, 3, 2), CrossStage(512, 512, 1, False)
        self.heads = nn.ModuleList(nn.Conv2d(width, anchors * (classes + 5), 1) for width in (128, 256, 512))
        self.register_buffer("sizes", torch.tensor([[[10, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 119]],
                                                    [[116, 90], [156, 198], [373, 326]]], dtype=torch.float32))
        self.anchors, self.outputs, self.threshold, self.most = anchors, classes + 5, threshold, most

    def maps(self, x):
        fine = self.stage2(self.down2(self.stage1(self.down1(self.stem(x)))))
        middle = self.stage3(self.down3(fine))
        coarse = self.pool1(self.stage4(self.down4(middle)))
        pooled = [coarse]
        for _ in range(3):
            pooled.append(functional.max_pool2d(pooled[-1], 5, 1, 2))
        side1 = self.side1(self.pool2(torch.cat(pooled, 1)))
        side2 = self.side2(self.up1(torch.cat([functional.interpolate(side1, scale_factor=2.0), middle], 1)))
        first = self.up2(torch.cat([functional.interpolate(side2, scale_factor=2.0), fine], 1))
        second = self.low1(torch.cat([self.back1(first), side2], 1))
        return first, second, self.low2(torch.cat([self.back2(second), side1], 1))

    def forward(self, image):
        rows = []
        for level, x in enumerate(self.maps(image)):
            x = self.heads[level](x)
            batch, _, high, wide = x.shape
            x = x.view(batch, self.anchors, self.outputs, high, wide).permute(0, 1, 3, 4, 2).sigmoid()
            down, across = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
            places = torch.stack([across, down], -1)
            centres = (x[..., :2] * 2 - 0.5 + places) * self.STRIDES[level]
            spans = (x[..., 2:4] * 2) ** 2 * self.sizes[level].view(1, self.anchors, 1, 1, 2)
            rows.append(torch.cat([centres, spans, x[..., 4:]], -1).reshape(batch, -1, self.outputs))
        found = torch.cat(rows, 1)[0]
        scores, labels = (found[:, 5:] * found[:, 4:5]).max(1)
        kept = torch.nonzero(scores > self.threshold).squeeze(1)
        boxes, scores, labels = found[kept, :4], scores[kept], labels[kept]
        boxes = torch.cat([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
        # Classes are moved apart, so that boxes of two of them do not overlap.
        chosen = torchvision.ops.nms(boxes + labels.unsqueeze(1) * 7680.0, scores, 0.5)[:self.most]
        return boxes[chosen], scores[chosen], labels[chosen]


def yolo(random):
    made = Network.filled(random, Yolo(), lambda high, wide: {"image": torch.rand(1, 3, high, wide, generator=random)},
                          [(64, 96), (96, 64), (128, 160)],
                          {"image": {2: "high", 3: "wide"}, **{name: ("found",) for name in BOXES}},
                          ("boxes", "scores", "labels"))
    for head in made.module.heads:
        head.weight.mul_(2)
    calibrate(made.module.stem, torch.rand(SAMPLES, 3, 64, 64, generator=random))
    norms = [module for module in made.module.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    made.module.maps(torch.rand(SAMPLES, 3, 128, 128, generator=random))
    return made


# --- diffusion

class Residual(nn.Module):
    def __init__(self, read, written, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, read), nn.Conv2d(read, written, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(32, written), nn.Conv2d(written, written, 3, padding=1)
        self.time = nn.Linear(time, written)
        self.short = nn.Conv2d(read, written, 1) if read != written else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(functional.silu(self.norm1(x))) + self.time(functional.silu(time))[:, :, None, None]
        return self.short(x) + self.conv2(functional.silu(self.norm2(h)))


class SpatialAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.all, self.out = nn.GroupNorm(32, width), nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        batch, width, high, wide = x.shape
        query, key, value = self.all(self.norm(x)).reshape(batch, 3, width, high * wide).unbind(1)
        weights = (query.transpose(1, 2) @ key / math.sqrt(width)).softmax(-1)
        return x + self.out((value @ weights.transpose(1, 2)).reshape(batch, width, high, wide))


class UNet(nn.Module):
    """DDPM's for CIFAR-10, 96 wide: two blocks a level, attention at half size."""

    def __init__(self, width=96, factors=(1, 2, 2, 2), depth=2):
        super().__init__()
        time = 4 * width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.stem, widths, here = nn.Conv2d(3, width, 3, padding=1), [width], width
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        for level, factor in enumerate(factors):
            for _ in range(depth):
                self.down.append(nn.ModuleList([Residual(here, factor * width, time)] +
                                               ([SpatialAttention(factor * width)] if level == 1 else [])))
                here = factor * width
                widths.append(here)
            if level + 1 < len(factors):
                self.down.append(nn.Conv2d(here, here, 3, 2, 1))
                widths.append(here)
        self.middle = nn.ModuleList([Residual(here, here, time), SpatialAttention(here), Residual(here, here, time)])
        for level, factor in reversed(list(enumerate(factors))):
            for _ in range(depth + 1):
                self.up.append(nn.ModuleList([Residual(here + widths.pop(), factor * width, time)] +
                                             ([SpatialAttention(factor * width)] if level == 1 else [])))
                here = factor * width
            if level:
                self.up.append(nn.Conv2d(here, here, 3, padding=1))
        self.norm, self.out = nn.GroupNorm(32, here), nn.Conv2d(here, 3, 3, padding=1)
        self.register_buffer("rates", torch.exp(-math.log(10000) / (width // 2 - 1) * torch.arange(width // 2)))

    @staticmethod
    def step(block, x, time):
        x = block[0](x, time)
        return block[1](x) if len(block) > 1 else x

    def forward(self, image, times):
        angles = times.to(torch.float32)[:, None] * self.rates[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        x = self.stem(image)
        sides = [x]
        for block in self.down:
            x = block(x) if isinstance(block, nn.Conv2d) else self.step(block, x, time)
            sides.append(x)
        x = self.middle[2](self.middle[1](self.middle[0](x, time)), time)
        for block in self.up:
            if isinstance(block, nn.Conv2d):
                x = block(functional.interpolate(x, scale_factor=2.0))
            else:
                x = self.step(block, torch.cat([x, sides.pop()], 1), time)
        return self.out(functional.silu(self.norm(x)))


def unet(random):
    def inputs(batch, high, wide):
        return {"image": normal(random, batch, 3, high, wide), "times": torch.arange(batch) * 311 + 5}
    return Network.filled(random, UNet(), inputs, [(1, 32, 32), (2, 16, 24), (1, 64, 32)],
                          {"image": {0: "batch", 2: "high", 3: "wide"}, "times": ("batch",)}, ("noise",))


NETWORKS = {made.__name__: made for made in (detr, swin, yolo, unet)}
NETWORKS |= {"faster_rcnn": faster_rcnn, "mask_rcnn": mask_rcnn, "keypoint_rcnn": keypoint_rcnn,
             "retinanet": retinanet, "fcos": fcos, "ssd": ssd}
